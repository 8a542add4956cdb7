import Glibc
import TestSupport
import Testing

/// Flame charts as a person uses them: a program of two threads that sets marks and a counter.
@Suite struct FlameChartTests {
    private let directory: TemporaryDirectory
    private let session: String
    private let page: String
    /// Seconds since 1970 between which it was recorded.
    private let recorded: ClosedRange<Int>

    /// A directory with the recording and its page, made once a test run.
    private static let recording = Result {
        let path = try Fathom.sharedDirectory("FlameChart")
        let session = "\(path)/session.fathom"
        let begin = time(nil)
        _ = try Fathom.record(
            [try Binaries.instrumented("control.c", .gccO0)], into: session, options: ["--quiet", "--no-blocked"])
        let recorded = begin...time(nil)
        let drawn = try Fathom.run(["flame", session, "--time-order", "-o", "\(path)/chart.html"])
        try #require(drawn.status == 0, "\(drawn.stderr)")
        return (path: path, recorded: recorded)
    }

    init() throws {
        directory = try TemporaryDirectory("chart")
        let recording = try Self.recording.get()
        recorded = recording.recorded
        session = "\(recording.path)/session.fathom"
        page = "\(recording.path)/chart.html"
    }

    private static let ready =
        "wait typeof session !== 'undefined' && session && pictures.size === lanes.all.length && graph"

    private func run(_ steps: [String], page: String? = nil) throws -> [String] {
        try Browser.run(page ?? self.page, [Self.ready, "still"] + steps, isFlame: false)
    }

    /// JavaScript for a place of a lane in the window.
    private static func place(_ x: String, _ y: String) -> String {
        "(box => ({ x: box.x + \(x), y: box.y + \(y) - timeline.scrolled, width: 0, height: 0 }))"
            + "(stage.getBoundingClientRect())"
    }

    @Test func everyThreadIsALane() throws {
        let threads = try Fathom.run(["report", session, "--by", "thread", "--format", "csv"]).stdout
        let found = try run([
            "lanes.all.map(lane => lane.track.label.replace(/ \\d+$/, ''))", "panes.all.map(pane => pane.key)",
            "session.tracks.reduce((sum, each) => sum + each.calls, 0)",
            // Each call lies within one of the row above.
            """
            [...pictures.values()].every(({ first, begin, length }) => [...first.keys()].slice(1, -1).every(row => \
            [...begin.keys()].slice(first[row], first[row + 1]).every(k => [...begin.keys()].slice(first[row - 1], first[row]) \
            .some(above => begin[above] <= begin[k] && begin[above] + length[above] >= begin[k] + length[k]))))
            """,
            "[...pictures.values()].reduce((sum, part) => sum + part.calls.reduce((a, b) => a + b, 0), 0)",
            "source.tiles.finest",
        ])
        #expect(threads.split(separator: "\n").count == 3, "\(threads)")
        #expect(found[0] == #"["main", "the worker"]"# && found[1] == #"["flame", "functions"]"#, "\(found)")
        let calls = try jq("[.processes[].calls] | add", ["report", session, "--by", "process"])
        #expect(Array(found[2...]) == [calls, "true", calls, "0"], "\(found)")
    }

    @Test func marksAndCountersAreTold() throws {
        let tip = "[...element('tip').querySelectorAll('dd, b')].map(each => each.textContent)"
        let found = try run([
            "wait lanes.all[1].marks.length", "lanes.all.map(lane => lane.marks.map(mark => mark[1]))",
            "lanes.all.map(lane => lane.counters.map(each => [each.name, each.points.map(point => point[1]), each.least, each.most]))",
            "do lanes.all.forEach(lane => { if (!lane.isOpen) toggleFold(lane); })",
            "wait lanes.all.every(lane => lane.isOpen)",
            "move \(Self.place("xOf(lanes.all[1].marks[0][0])", "lanes.all[1].top + 10"))",
            "wait element('tip').textContent.includes('first token')", tip,
            "move \(Self.place("timeline.width - 2", "lanes.all[0].top + lanes.all[0].height - 16"))",
            "wait element('tip').textContent.includes('queued')", tip,
        ])
        #expect(found[0] == #"[["first token"], ["first token"]]"#)
        #expect(found[1] == #"[[["queued", [7, 2.5, 7, 2.5], 0, 7]], []]"#)
        #expect(found[2].hasSuffix(#""first token"]"#) && found[2].contains(" UTC"), "\(found[2])")
        #expect(found[3].hasPrefix(#"["2.5""#), "\(found[3])")
    }

    /// A range that is chosen by a real drag is added up, as the report does with what the page says of it.
    @Test func aRangeIsAddedUp() throws {
        let found = try run([
            "shift-drag 240,0 \(Self.place("1", "10"))", "wait selection.range !== null",
            "selection.range.map((each, at) => at ? Math.ceil(each) : Math.floor(each))",
            "do choose({ range: selection.range.map((each, at) => at ? Math.ceil(each) : Math.floor(each)) })", "key 2",
            "wait paneOf('functions').rows && !panes.timer || location.hash.includes('range=')",
            "paneOf('functions').show().then(() => paneOf('functions').rows"
                + ".map(row => [row.name, row.calls, row.total_ns, row.self_ns]).sort())",
            "paneOf('functions').note.hidden", "key Escape", "wait selection.range === null",
        ])
        let range = found[0].split { !$0.isNumber }
        let report = try jq(
            "[.functions[] | [.name, .calls, .total_ns, .self_ns]] | sort",
            ["report", session, "--clip", "--from", "\(range[0])ns", "--to", "\(range[1])ns"])
        #expect(found[1].filter { $0 != " " } == report.filter { $0 != " " })
        #expect(found[2] == "true")
    }

    @Test func theClockTellsWhenItWas() throws {
        let found = try run([
            "session.began[0]", "key u", "wait location.hash.includes('clock=1')",
            "ticksIn(selection.from, selection.to, timeline.width, 170).every(each => /^\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?$/.test(each[1]))",
            "ticksIn(selection.from, selection.to, timeline.width, 170).length > 2",
            "clock(0).slice(0, 8) === new Date(session.began[0] * 1000).toISOString().slice(11, 19)", "key u",
            "wait !location.hash.includes('clock=1')",
            "ticksIn(selection.from, selection.to, timeline.width, 170).every(each => / (ns|us|ms|s)$/.test(each[1]))",
        ])
        #expect(recorded.contains(try #require(Int(found[0]))))
        #expect(Array(found[1...]) == ["true", "true", "true", "true"])
    }

    /// Colours are what the command line asks for, or what the reader chooses: by own time, those of calls that took much differ.
    @Test func coloursAreAskedFor() throws {
        let page = directory.file("colours.html")
        #expect(try Fathom.run(["flame", session, "--time-order", "--colour", "self", "-o", page]).status == 0)
        let found = try run(
            [
                "wait element('colour').value", "element('colour').value",
                "new Set(ownSteps(pictures.get(0))).size > 1",
                "do (element('colour').value = 'kind', element('colour').dispatchEvent(new Event('change')))",
                "wait tints.by === 'kind' && location.hash.includes('by=kind')", "wait tints.legend().length > 0",
                "tints.legend().some(each => each[1] === 'C')",
            ], page: page)
        #expect(found == [#""self""#, "true", "true"], "\(found)")
    }

    /// Filters leave out of the page's timeline and panes what they leave out of reports.
    @Test func filtersHold() throws {
        let page = directory.file("filtered.html"), filters = ["--thread", "the worker", "-F", "worker"]
        #expect(try Fathom.run(["flame", session, "--time-order", "-o", page] + filters).status == 0)
        let found = try run(
            [
                "lanes.all.map(lane => lane.track.name)", "key 2", "wait paneOf('functions').rows",
                "paneOf('functions').rows.map(row => [row.name, row.calls, row.total_ns]).sort()",
                "[...pictures.get(0).fn].map(f => book.names[f]).sort()",
            ], page: page)
        #expect(found[0] == #"["the worker"]"#)
        let report = try jq(
            "[.functions[] | [.name, .calls, .total_ns]] | sort", ["report", session] + filters)
        #expect(found[1].filter { $0 != " " } == report.filter { $0 != " " })
        let names = try jq(
            "[.functions[] | .name as $name | range(.calls) | $name] | sort", ["report", session] + filters)
        #expect(found[2].filter { $0 != " " } == names.filter { $0 != " " })
    }

    /// Opened by itself, the picture becomes the same page.
    @Test func thePictureOpensAsThePage() throws {
        let picture = directory.file("page.svg")
        #expect(try Fathom.run(["flame", session, "--time-order", "-o", picture]).status == 0)
        let lanes = "lanes.all.map(lane => [lane.track.label, lane.track.calls, lane.depth])"
        #expect(try run([lanes], page: picture) == run([lanes]))
    }

    @Test func thePictureHasAllThreads() throws {
        let picture = directory.file("chart.svg")
        #expect(try Fathom.run(["flame", session, "--time-order", "-o", picture]).status == 0)
        let text = String(decoding: try readFile(picture), as: UTF8.self)
        #expect(text.contains(">the worker ") && text.contains("<title>worker\n1 call, total "))
        // Both threads set marks.
        let marks = text.split(separator: "<path class=\"m\" d=\"M").dropFirst()
        #expect(marks.count { $0.contains("<title>first token") && $0.contains("\nat ") } == 2, "\(marks)")
        // The counter has its values, the last of those that share a pixel first, and its range.
        let steps = text.split(separator: "<rect class=\"c\" ").dropFirst()
        #expect(!steps.isEmpty && steps.allSatisfy { $0.contains("<title>queued\n") }, "\(steps)")
        #expect(
            steps.last?.contains("<title>queued\n2.5") == true && text.contains(">queued  0 … 7</text>"), "\(steps)")
        let one = try Fathom.run(["flame", session, "--time-order", "--thread", "the worker", "-o", picture])
        #expect(one.status == 0, "\(one.stderr)")
        #expect(!String(decoding: try readFile(picture), as: UTF8.self).contains("<title>main\n"))
    }

    /// Moments are told since the session's start, as by every other command.
    @Test func momentsAreTheSessions() throws {
        let tree = try Fathom.run(["export", session, "--format", "chrome", "-o", "-"]).stdout
        let first = try #require(tree.firstMatch(of: #/"ph":"B".*?"ts":([0-9.]+),"name":"([^"]*)"/#))
        let microseconds = try #require(Double(first.1))
        let found = try run(["session.begin", "Math.min(...[...pictures.values()].map(part => part.begin[0]))"])
        #expect(found.allSatisfy { Double($0) == (microseconds * 1000).rounded() }, "\(found) \(first.1)")
    }

    /// A chart of more calls than a browser opens shows the longest, and says so.
    @Test func tooManyCalls() throws {
        let source = try directory.write(
            """
            static volatile int sum;
            void leaf(void) { sum++; }
            void long_one(void) { for (volatile int i = 0; i < 20000000; i++) {} }
            int main(void) { for (int i = 0; i < 1100000; i++) leaf(); long_one(); return 0; }

            """, to: "many.c")
        let program = directory.file("many"), session = directory.file("many.fathom")
        let page = directory.file("many.html")
        try #require(try Fathom.run(["build", "--", "gcc", "-O1", source, "-o", program]).status == 0)
        try #require(try Fathom.record([program], into: session, options: ["--quiet", "--no-blocked"]).status == 0)
        let drawn = try Fathom.run(["flame", session, "--time-order", "-o", page])
        let said = "the 1,000,000 longest of 1,100,002 calls"
        #expect(
            drawn.status == 0 && drawn.stderr.contains("warning: the chart shows \(said), from "), "\(drawn.stderr)")
        let found = try Browser.run(
            page,
            [
                Self.ready, "document.title.includes('\(said)')", "session.tracks[0].calls",
                "book.names.includes('long_one')",
                "source.tiles.sums(session.begin, session.end)"
                    + ".then(sums => [...sums.values()].reduce((sum, each) => sum + each.calls, 0))",
            ], isFlame: false)
        #expect(found[0] == "true" && found[2] == "true" && found[1] == found[3], "\(found)")
        #expect((999_998...1_000_002).contains(Int(found[1]) ?? 0), "\(found)")
        #expect(try readFile(page).count < 9 << 20)
    }
}
