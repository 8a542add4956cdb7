import TestSupport
import Testing
import TraceText

@testable import TraceScreen

/// Whatever keys are pressed on a screen of whatever size: it is full, and no line is wider than it.
@Suite struct ScreenSizeTests {
    private static let keys: [Key] =
        "jkznpulxcECGRgrvSIOe/NPFsfwh? <>+-q*a".unicodeScalars.map(Key.character)
        + [
            .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .enter, .escape, .backspace, .tab,
            .backTab, .control("u"), .control("f"),
        ]

    @Test(arguments: 1...6) func anyKeys(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var fixture = try ScreenFixture(
            "mLWrp.sw.w...W.w..Lq...Wm.L...", start: seed % 2 == 0 ? .tree : .report, isLive: seed % 3 == 0,
            characters: seed > 4 ? .ascii : .all,
            surroundings: ScreenSurroundings(
                info: { ["a very long line of words that somebody has to break somewhere, 長い"] },
                source: { _, line in (line, ["int main(void) {", "    return 0; // 日本語"]) }))
        for step in 0..<800 {
            if step % 20 == 0 {
                fixture.screen.resize(
                    columns: .random(in: 0...130, using: &random), rows: .random(in: 0...40, using: &random))
            }
            let key = ScreenSizeTests.keys.randomElement(using: &random)!
            _ = fixture.screen.handle(key)
            check(&fixture.screen, "seed \(seed), step \(step), \(key)")
        }
    }

    private func check(_ screen: inout TraceScreen, _ what: String) {
        let lines = screen.lines()
        let width = lines.first?.width ?? 0
        for line in lines {
            let columns = line.spans.reduce(0) { $0 + $1.text.columns }
            #expect(columns == line.columns && columns <= width, "\(what): '\(line.text)'")
        }
    }

    @Test(arguments: [(80, 24), (200, 60), (20, 5), (1, 1), (5, 3), (40, 2)]) func fillsTheScreen(
        _ columns: Int, _ rows: Int
    )
        throws
    {
        var fixture = try ScreenFixture("mrp.sw.w...w..", columns: columns, rows: rows)
        for key in "jRrghvIS".unicodeScalars {
            _ = fixture.screen.handle(.character(key))
            #expect(fixture.screen.lines().count == rows)
            #expect(fixture.screen.lines().allSatisfy { $0.width == columns })
        }
    }

    @Test func ascii() throws {
        var fixture = try ScreenFixture("mLW.rp..", characters: .ascii)
        for key in "ERrgvhI".unicodeScalars {
            _ = fixture.screen.handle(.character(key))
            #expect(fixture.screen.lines().allSatisfy { $0.text.utf8.allSatisfy { $0 < 0x80 } })
        }
        fixture.press(.escape, .escape, .escape, .escape, .escape)
        fixture.type("GE")
        #expect(try fixture.body().at(1).hasSuffix("- main"))
        #expect(fixture.body().contains { $0.contains("??") })
    }
}
