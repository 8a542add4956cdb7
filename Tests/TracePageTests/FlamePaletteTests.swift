import Testing

@testable import TracePage

/// What the Web Content Accessibility Guidelines 2.2 ask for (1.4.3, 1.4.11): 4.5 for text, 3 for what tells things apart.
@Suite struct FlamePaletteTests {
    private func fills(isDark: Bool) -> [FlameColour] {
        let steps = FlamePalette.stepCount
        return (0..<FlamePalette.groupCount).flatMap { group in
            (0..<FlamePalette.shadeCount).map { FlamePalette.colour(group: group, shade: $0, isDark: isDark) }
        } + (0...steps).map { FlamePalette.colour(ownTime: $0, isDark: isDark) }
            + (-steps...steps).map { FlamePalette.colour(change: $0, isDark: isDark) }
            + [FlamePalette.plain(isDark: isDark), FlamePalette.matched(isDark: isDark)]
    }

    @Test(arguments: [false, true]) func textAndBordersStandOut(isDark: Bool) {
        let ink = FlamePalette.ink(isDark: isDark)
        for fill in fills(isDark: isDark) {
            #expect(fill.contrast(to: ink) >= 4.5, "\(fill.css)")
            #expect(fill.contrast(to: fill.edge) >= 3, "\(fill.css)")
        }
        let (paper, counter) = (FlamePalette.paper(isDark: isDark), FlamePalette.counter(isDark: isDark))
        #expect(paper.contrast(to: ink) >= 4.5)
        let waiting = FlamePalette.waiting(isDark: isDark)
        for colour in [waiting.ground, waiting.lines] { #expect(colour.contrast(to: ink) >= 4.5, "\(colour.css)") }
        #expect(waiting.ground.contrast(to: waiting.lines) >= 3)
        #expect(counter.contrast(to: ink) >= 4.5 && counter.contrast(to: paper) >= 3, "\(counter.css)")
    }

    /// What a search has found is told from all else.
    @Test(arguments: [false, true]) func groupsDiffer(isDark: Bool) {
        let first = (0..<8).map { FlamePalette.colour(group: $0, shade: 2, isDark: isDark).css }
        #expect(Set(first).count == 8)
        #expect(!fills(isDark: isDark).dropLast().map(\.css).contains(FlamePalette.matched(isDark: isDark).css))
    }

    /// A small change is nearly grey, and each step is stronger than the one before.
    @Test(arguments: [false, true]) func smallChangesArePale(isDark: Bool) {
        func strength(_ step: Int) -> Int {
            let css = FlamePalette.colour(change: step, isDark: isDark).css.dropFirst()
            let channels = stride(from: 0, to: 6, by: 2).map { offset in
                Int(css.dropFirst(offset).prefix(2), radix: 16)!
            }
            return channels.max()! - channels.min()!
        }
        #expect(strength(0) <= 8)
        for sign in [-1, 1] {
            let strengths = (0...FlamePalette.stepCount).map { strength(sign * $0) }
            #expect(zip(strengths, strengths.dropFirst()).allSatisfy { $0 < $1 }, "\(strengths)")
            #expect(strengths[1] * 3 < strengths[FlamePalette.stepCount])
        }
    }

    /// Values of CSS Color 4's own examples.
    @Test func oklchIsWhatBrowsersTakeItFor() {
        #expect(FlameColour(0, 0, 0).css == "#000000")
        #expect(FlameColour(1, 0, 0).css == "#ffffff")
        #expect(FlameColour(0.627966, 0.257704, 29.2346).css == "#ff0000")
        #expect(FlameColour(0.519752, 0.176858, 142.495).css == "#008000")
        #expect(FlameColour(1, 0, 0).contrast(to: FlameColour(0, 0, 0)) == 21)
    }
}
