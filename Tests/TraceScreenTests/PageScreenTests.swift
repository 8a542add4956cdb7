import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceScreen

@Suite struct PageScreenTests {
    private let calls = "mrp.sw.w...w.."

    @Test func report() throws {
        var fixture = try ScreenFixture(calls, start: .report)
        #expect(
            fixture.body().map { $0.split(separator: " ").last ?? "" } == [
                "function", "main", "run", "sort", "work", "const*)",
            ])
        #expect(try fixture.body().at(0).contains("▼total"))
        fixture.type("s")
        #expect(fixture.bottom() == "sorted by self")
        #expect(try fixture.body().at(0).contains("▼self"))
        #expect(try fixture.body().at(1).hasSuffix("main"))
        fixture.type("/work")
        fixture.press(.enter)
        #expect(fixture.current() == "work")
        fixture.press(.enter)
        #expect(fixture.title().contains("callers and callees of work"))
        #expect(fixture.current() == "sort")
        #expect(fixture.body().contains { $0.hasSuffix("callees") })
        // A caller can be opened in the same way.
        fixture.press(.enter)
        #expect(fixture.title().contains("callers and callees of sort"))
        fixture.press(.tab)
        #expect(fixture.current() == "work")
        fixture.press(.escape, .escape)
        #expect(fixture.current() == "work")
        fixture.press(.tab)
        #expect(fixture.title().contains("call tree"))
        fixture.type("R")
        #expect(fixture.title().contains("report"))
        fixture.type("G")
        #expect(fixture.title().contains("call tree"))
    }

    @Test func columns() throws {
        var fixture = try ScreenFixture(calls, columns: 100)
        fixture.type("f")
        #expect(fixture.body().filter { $0.contains("✓") }.count == 3)
        // Without calls, and with the share of all time.
        fixture.press(.home)
        fixture.type(" jjj ")
        fixture.press(.enter)
        #expect(try fixture.body().at(0).split(separator: " ").prefix(3) == ["total", "self", "%"])
        #expect(try fixture.body().at(1).contains("100.0"))
    }

    /// Numbers never touch those before them.
    @Test(arguments: [(7, "7"), (9_999_999, "9,999,999"), (34_452_540, "34452540"), (12_345_678_901, "12,345 M")])
    func largeCounts(_ calls: UInt64, _ text: String) throws {
        var row = RowSums()
        row.calls = calls
        var line = ScreenLine(width: 30)
        ScreenColumn.calls.write(
            AggregateRow(.place(nil), row, Percentiles(), cost: nil), ScreenNumbers(whole: 0), to: &line)
        #expect(line.text == String(repeating: " ", count: 10 - text.count) + text)
    }

    @Test func filters() throws {
        var fixture = try ScreenFixture(calls)
        fixture.type("Fsort")
        fixture.press(.enter)
        #expect(fixture.body().map { $0.split(separator: " ").last ?? "" } == ["total", "sort", "work"])
        #expect(fixture.title().contains("only sort"))
        fixture.press(.tab)
        #expect(fixture.body().map { $0.split(separator: " ").last ?? "" } == ["function", "sort", "work"])
        fixture.type("F")
        fixture.press(.control("u"))
        fixture.type("nothing")
        fixture.press(.enter)
        #expect(fixture.bottom() == "no function matches 'nothing'; F changes that")
        #expect(fixture.type("gvre") == nil)
        fixture.type("F")
        fixture.press(.control("u"), .enter)
        #expect(fixture.body().count == 6)
    }

    @Test func actions() throws {
        var fixture = try ScreenFixture(calls)
        #expect(fixture.type("e") == .edit(file: "/src/m.c", line: 7))
        #expect(fixture.type("O") == .edit(file: "/src/m.c", line: 7))
        fixture.type("/sort")
        fixture.press(.enter)
        #expect(fixture.type("e") == nil)
        #expect(fixture.bottom().hasPrefix("where sort is written is not k"))
        fixture.type("w")
        #expect(fixture.press(.enter) == .save("report.csv"))
        fixture.type("S")
        #expect(fixture.body() == ["    processes and threads", "> ✓ everything", "      thread 1"])
        #expect(fixture.press(.enter) == nil)
        fixture.type("Sj")
        #expect(fixture.press(.enter) == .choose(1))
        #expect(fixture.type("q") == .quit)
        #expect(fixture.press(.control("c")) == .quit)
        fixture.type("y")
        #expect(fixture.bottom() == "'y' is no key here; h shows all keys")
    }

    @Test func details() throws {
        let source = (1...9).map { "line \($0)" }
        var fixture = try ScreenFixture(
            calls, rows: 60, surroundings: ScreenSurroundings(info: { ["calls  7"] }, source: { _, _ in (1, source) }))
        fixture.type("v")
        let body = fixture.body()
        #expect(body.contains("     calls    1") && body.contains("     total    130,000 ns"))
        #expect(body.contains(" source     /src/m.c:7") && body.contains(" 7  line 7"))
        fixture.press(.escape)
        fixture.type("I")
        #expect(fixture.body() == [" calls  7"])
        fixture.press(.escape)
        fixture.type("h")
        for key in [
            "Enter", "E C", "g ", "r ", "R ", "v ", "S ", "I ", "/ ", "N >", "P <", "F ", "s ", "f ", "e O", "w ", "q ",
        ] {
            #expect(fixture.body().contains { $0.hasPrefix("   \(key)") }, "\(key)")
        }
        #expect(!fixture.body().contains { $0.contains("pause") })
    }

    /// A running program's content changes under what somebody looks at.
    @Test func live() throws {
        let functions = ScreenFixture.functions()
        let directory = try TemporaryDirectory("live")
        var fixture = try ScreenFixture("m", isLive: true)
        let first = try ScreenFixture.content("mrp.", functions, in: directory, isLive: true)
        fixture.screen = TraceScreen(first, .tree)
        fixture.screen.resize(columns: 60, rows: 12)
        fixture.type("E")
        fixture.press(.end)
        #expect(fixture.current() == "parse(char const*)")
        // Another callee comes, which has more time, and is closed.
        var more = try ScreenFixture.content("mrp.sw.w.w.w...w", functions, in: directory, isLive: true)
        more.status = "for 3 s"
        fixture.screen.update(more)
        #expect(fixture.current() == "parse(char const*)")
        #expect(fixture.body().contains { $0.hasSuffix("▾ sort") })
        #expect(fixture.title().hasSuffix("for 3 s"))
        fixture.type(" ")
        #expect(fixture.screen.isPaused && fixture.title().hasSuffix("PAUSED"))
        fixture.type(" ")
        #expect(!fixture.screen.isPaused)
        fixture.type("h")
        _ = fixture.body()
        fixture.press(.end)
        #expect(fixture.body().contains { $0.contains("pause") })
    }

    /// Samples are not called calls, and have no shortest and no typical one.
    @Test func samples() throws {
        let directory = try TemporaryDirectory("screen"), functions = ScreenFixture.functions()
        functions.countsSamples = true
        let content = try ScreenFixture.content(calls, functions, in: directory)
        for start in [TraceScreen.Start.tree, .report] {
            var screen = TraceScreen(content, start, sortedBy: .p99)
            screen.resize(columns: 160, rows: 20)
            var text = screen.lines().map(\.text).joined(separator: "\n")
            #expect(text.contains("samples") && !text.contains("calls") && !text.contains("p99"), "\(text)")
            _ = screen.handle(.enter)
            _ = screen.handle(.character("i"))
            text = screen.lines().map(\.text).joined(separator: "\n")
            #expect(!text.contains(" calls") && !text.contains("avg"), "\(text)")
        }
    }
}
