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

    private static let middle = Browser.point("main.width / 2", "10")

    @Test func everyThreadHasRows() throws {
        let info = try Fathom.run(["report", session, "--by", "thread", "--format", "csv"]).stdout
        let found = try Browser.run(
            page,
            [
                "bands.length", "bands.map(band => band.name.replace(/ \\d+$/, ''))", "bandFrames.map(name)[1]",
                "new Set(Array.from(row)).size >= bands.length * 2",
                // Rows of two threads are apart.
                "bandFrames.every((i, at) => at === 0 || row[i] > Math.max(...Array.from(row.subarray(0, i))))",
                // What is below a band lies within its time.
                "Array.from(fn.keys()).filter(i => i > 0 && !bandFrames.includes(i)).every(i => "
                    + "left[i] >= left[parent[i]] && left[i] + total[i] <= left[parent[i]] + total[parent[i]])",
                "Array.from(calls).reduce((sum, each, i) => fn[i] >= 0 ? sum + each : sum, 0)",
            ])
        #expect(info.split(separator: "\n").count == 3, "\(info)")
        #expect(found[0] == "2" && found[1] == #"["main", "the worker"]"# && found[2].contains("the worker"))
        #expect(Array(found[3...5]) == ["true", "true", "true"])
        let all = try Fathom.run(["report", session, "--by", "process", "--format", "json"]).stdout
        let calls = try #require(all.split(separator: "\"calls\":").dropFirst().first).prefix { $0.isNumber }
        #expect(found[6] == String(calls))
    }

    /// A thread with deep calls has 24 rows until it is opened, so that other threads are in sight.
    @Test func deepThreadsAreFolded() throws {
        let session = directory.file("lanes.fathom")
        let page = directory.file("lanes.html")
        _ = try Fathom.record(
            [try Binaries.instrumented("lanes.c", .gccO0)], into: session, options: ["--quiet", "--no-blocked"])
        let drawn = try Fathom.run(["flame", session, "--time-order", "-o", page])
        try #require(drawn.status == 0, "\(drawn.stderr)")
        let lane = Browser.point("main.width / 2", "main.rowTop(row[bandFrames[0]]) + 8")
        let found = try Browser.run(
            page,
            [
                // main and 60 calls below it; the other thread has two rows.
                "still", "[bandFrames.map(i => row[i]), bands.map(band => band.folded), graph.rows]",
                "Array.from(row).filter(each => each < 0).length", "click \(lane)", "wait graph.rows === 66",
                "[bandFrames.map(i => row[i]), bands.map(band => band.folded), Math.min(...Array.from(row))]",
                "key o", "wait graph.rows === 29", "bandFrames.map(i => row[i])",
                // What is found among the rows that are not shown is shown.
                "do select(bandFrames[1] - 1)", "row[selected]", "sandwich(fn[selected]).callees.count",
            ])
        #expect(found == ["[[1, 26], [37, 0], 29]", "37", "[[1, 63], [0, 0], 0]", "[1, 26]", "62", "60"])
    }

    @Test func marksAndCountersAreTold() throws {
        let tip = "[...element('tip').querySelectorAll('dd, b')].map(each => each.textContent)"
        func mark(_ band: Int) -> String {
            Browser.point(
                "(bands[\(band)].marks[0][0] - main.shown.start) * main.width / main.shown.span",
                "main.rowTop(row[bandFrames[\(band)]]) + 8")
        }
        let found = try Browser.run(
            page,
            [
                "still", "bands.map(band => band.marks.map(mark => mark[1]))",
                "bands[0].counters.map(each => [each.name, each.points.filter((value, at) => at % 2), each.least, each.most])",
                "bands[1].counters.length", "move \(mark(1))", "wait !element('tip').hidden", tip,
                "move \(Browser.point("main.width - 2", "main.rowTop(row[bandFrames[0]] + 1) + 8"))",
                "wait element('tip').textContent.includes('queued')", tip,
            ])
        #expect(found[0] == #"[["first token"], ["first token"]]"#)
        #expect(found[1] == #"[["queued", [7, 2.5, 7, 2.5], 0, 7]]"#)
        #expect(found[2] == "0")
        #expect(found[3].hasSuffix(#""first token"]"#) && found[3].contains(" UTC"), "\(found[3])")
        #expect(found[4].hasPrefix(#"["2.5""#), "\(found[4])")
    }

    /// A value that lasted for a moment fills no more of the chart than that.
    @Test func countersLastAsLongAsTheyDid() throws {
        let counter = "bands[0].counters[0]"
        func isFilled(_ x: String) -> String {
            "(at => main.context.getImageData(at * main.ratio, (main.rowTop(row[bandFrames[0]] + 1) + 8) * main.ratio, 1, 1)"
                + ".data[2] > main.context.getImageData(at * main.ratio, (main.rowTop(row[bandFrames[0]] + 2) + 14) * main.ratio,"
                + " 1, 1).data[2] - 20)(\(x))"
        }
        let found = try Browser.run(
            page,
            [
                "still", "scheme dark", "wait theme === 'dark'",
                "do \(counter).points.splice(0, Infinity, 0, 7, 1, 2, total[0] * 0.75, 7), main.draw()",
                isFilled("main.width / 2"), isFilled("main.width * 0.9"),
            ])
        #expect(found == ["false", "true"])
    }

    @Test(arguments: ["400x800", "1280x800", "2560x1440"]) func theWheelZoomsAndDragsMove(_ size: String) throws {
        let found = try Browser.run(
            page,
            [
                "still", "size \(size)", Browser.isOfSize(size),
                "do (window.moment = main.momentAt(main.width / 2))", "wheel 0,-400 \(Self.middle)",
                "wait main.shown.span < total[0] && !main.pending",
                // What was under the pointer still is.
                "Math.abs(main.momentAt(main.width / 2) - moment) <= 2", "do (window.before = main.shown)",
                "drag -100,0 \(Self.middle)", "wait main.shown.start !== before.start",
                "Math.abs(main.shown.start - before.start - 100 * before.span / main.width) < 2",
                "main.shown.span === before.span", "wheel 200,0 \(Self.middle)",
                "wait main.shown.start > before.start + 200 * before.span / main.width", "key +",
                "wait main.shown.span < before.span", "wait location.hash.includes('span=')", "key Home",
                "wait main.shown.span === total[0]", "back", "wait main.shown.span < total[0]", "main.shown.start > 0",
            ])
        #expect(found == ["true", "true", "true", "true"], "\(found)")
    }

    /// A range is told in the words that --from and --to take, and what they leave is what the page adds up.
    @Test func aRangeIsAddedUp() throws {
        let found = try Browser.run(
            page,
            [
                "still", "shift-drag 240,0 \(Browser.point("1", "10"))", "wait range !== null",
                "[range.start, Math.round(range.end - 240 * total[0] / main.width) < 20]",
                "element('status').textContent", "element('ranged').textContent === time(range.end - range.start)",
                "key t",
                "wait panel === 'table' && found", "functions.map(f => [names[f], found.calls[f]]).sort()", "key Enter",
                "[...location.hash.matchAll(/range/g)].length", "click canvas", "key Escape", "range",
                "drag 200,0 \(Browser.point("300", "-10"))", "wait range !== null", "key Enter",
                "wait main.shown.span === range.end - range.start", "key Escape", "range",
            ])
        let status = try #require(found.first { $0.contains("--from") })
        let words = status.split(separator: " ").map(String.init)
        let from = try #require(words.firstIndex(of: "--from"))
        let report = try Fathom.run(
            ["report", session, "--format", "csv", "--from", words.at(from + 1), "--to", words.at(from + 3)])
        #expect(report.status == 0, "\(report.stderr)")
        #expect(report.stdout.contains("scoped") == found.contains { $0.contains(#"["scoped","#) })
        #expect(found.filter { $0 == "null" }.count == 2)
    }

    @Test func theClockTellsWhenItWas() throws {
        let found = try Browser.run(
            page,
            [
                "data.time.began[0]", "key a", "wait isClock",
                "[...element('marks').children].every(each => /^\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?$/.test(each.textContent))",
                "element('marks').children.length > 2",
                "clock(0).slice(0, 8) === "
                    + "new Date(data.time.began[0] * 1000).toISOString().slice(11, 19)",
                "wait location.hash.includes('clock=1')", "key a", "wait element('marks').textContent.includes('s')",
            ])
        #expect(recorded.contains(try #require(Int(found[0]))))
        #expect(Array(found[1...]) == ["true", "true", "true"])
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
        let found = try Browser.run(
            page,
            [
                "data.time.origin", "momentFacts(0)[0][1] === time(data.time.origin)",
                "Array.from(element('marks').children).map(mark => mark.textContent).at(-1)",
            ])
        #expect(Double(found[0]) == (microseconds * 1000).rounded(), "\(found) \(first.1)")
        #expect(found[1] == "true")
        // The last mark of the ruler is near the end: no less than the first moment.
        let last = try #require(found[2].firstMatch(of: #/([0-9.]+) (us|ms|s)/#))
        let scale = ["us": 1e3, "ms": 1e6, "s": 1e9][String(last.2)]!
        #expect(try #require(Double(last.1)) * scale >= microseconds * 1000, "\(found)")
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
            page, ["document.title.includes('\(said)')", "count - 1", "names.includes('long_one')"])
        #expect(found[0] == "true" && found[2] == "true", "\(found)")
        #expect((999_998...1_000_002).contains(Int(found[1]) ?? 0), "\(found)")
    }
}
