import TestSupport
import Testing

/// The viewer of a recording as a person uses it: what it shows is what the commands tell.
@Suite struct ViewerNumbersTests {
    private let directory: TemporaryDirectory
    private let session: String
    private let server: ViewServer

    /// A recording of two threads that set marks and a counter, made once a test run.
    private static let recording = Result {
        let session = "\(try Fathom.sharedDirectory("Viewer"))/session.fathom"
        _ = try Fathom.record(
            [try Binaries.instrumented("control.c", .gccO0)], into: session, options: ["--quiet", "--no-blocked"])
        return session
    }

    init() throws {
        directory = try TemporaryDirectory("viewer")
        session = try Self.recording.get()
        server = try ViewServer(session, in: directory)
    }

    private func run(_ steps: [String], at hash: String = "") throws -> [String] {
        let ready = "wait typeof session !== 'undefined' && session && pictures.size === lanes.all.length"
        return try Browser.run(
            "http://127.0.0.1:\(server.port)\(server.root)\(hash)",
            [ready, "still", "wait !timeline.pending && timeline.still?.version === timeline.version"] + steps,
            isFlame: false)
    }

    private func jq(_ filter: String, _ arguments: [String]) throws -> String {
        let told = try Fathom.run(arguments + ["--format", "json"])
        try #require(told.status == 0, "\(told.stderr)")
        return try TestSupport.run("jq", ["-c", filter], input: told.stdout).stdout.split(separator: "\n").joined()
    }

    /// The page's functions with their calls and times, in the order of their names.
    private static let rows =
        "paneOf('functions').rows.map(row => [row.name, row.calls, row.total_ns, row.self_ns]).sort()"
    private static let reported = "[.functions[] | [.name, .calls, .total_ns, .self_ns]] | sort"

    private func compact(_ json: String) -> String { json.replacing(", ", with: ",") }

    @Test func functionsAreThoseOfReport() throws {
        let found = try run(["key 2", "wait paneOf('functions').rows", Self.rows, "[session.begin, session.end]"])
        #expect(try compact(found[0]) == jq(Self.reported, ["report", session]))
        let bounds = found[1].filter { !"[] ".contains($0) }.split(separator: ",").compactMap { UInt64($0) }
        try #require(bounds.count == 2)
        let third = (bounds[1] - bounds[0]) / 3, from = bounds[0] + third, to = bounds[1] - third
        let part = try run(
            ["wait paneOf('functions').rows && !paneOf('functions').place.classList.contains('asking')", Self.rows],
            at: "#range=\(from)-\(to)&pane=functions")
        #expect(
            try compact(part[0]) == jq(Self.reported, ["report", session, "--from", "\(from)ns", "--to", "\(to)ns"]))
        let filtered = try run(
            ["wait paneOf('functions').rows && !paneOf('functions').place.classList.contains('asking')", Self.rows],
            at: "#o=-F&o=worker&pane=functions")
        #expect(try compact(filtered[0]) == jq(Self.reported, ["report", session, "-F", "worker"]))
    }

    /// Every call is in the picture, by itself or among short ones, and a selected one is told as `tree` tells it.
    @Test func callsAreThoseOfTree() throws {
        let longest = try jq(
            "[.processes[].threads[] | .roots[] | {name, start_ns, total_ns, self_ns}] | max_by(.total_ns) "
                + "| [.name, .start_ns, .total_ns, .self_ns]", ["tree", session])
        let call =
            "(() => { const lane = lanes.all.find(each => each.track.label.startsWith('main')), box = "
            + "stage.getBoundingClientRect(); return { x: box.x + timeline.width / 2, y: box.y + lane.top + 2 + rowsTop(lane) + 5 "
            + "- timeline.scrolled, width: 0, height: 0 } })()"
        let found = try run([
            "do show(session.begin, session.end)", "wait lanes.all.every(lane => isFine(lane, 0, lane.depth))",
            "[...pictures.values()].reduce((sum, part) => sum + part.calls.reduce((a, b) => a + b, 0), 0)",
            "click \(call)", "wait element('status').textContent.includes('total')", "selection.call.begin",
            "element('status').textContent", "selection.name",
            "wait lanes.all.some(lane => lane.marks.length > 0)",
            "lanes.all.map(lane => lane.marks.map(mark => mark[1]))",
            "lanes.all.flatMap(lane => lane.counters.map(each => [each.name, each.least, each.most]))",
        ])
        #expect(try found[0] == jq("[.functions[].calls] | add", ["report", session]))
        #expect(longest.hasPrefix("[\(found[3]),\(found[1]),"), "\(longest) \(found)")
        #expect(found[2].contains("total ") && found[2].contains("self "), "\(found[2])")
        #expect(found[4] == #"[["first token"], ["first token"]]"# && found[5] == #"[["queued", 0, 7]]"#, "\(found)")
    }

    /// The histogram has as many calls as `tail` and `report` tell, and a bar lists its own.
    @Test func durationsAreThoseOfTail() throws {
        let session = try DrawnRecording().session, name = "value"
        let server = try ViewServer(session, in: directory)
        let found = try Browser.run(
            "http://127.0.0.1:\(server.port)\(server.root)#function=\(name)&pane=durations",
            [
                "still",
                "wait typeof session !== 'undefined' && session && paneOf('durations').calls?.shown.length > 0",
                "[...paneOf('durations').bars.children].reduce((sum, bar) => sum + Number(bar.firstChild.textContent.replace(',', '')), 0)",
                "paneOf('durations').calls.shown[0].total", "paneOf('durations').paths.shown.length > 0",
                "click [...paneOf('durations').bars.children].findLast(bar => !bar.disabled)",
                "wait timeline.found",
                "timeline.found.every(call => call.total <= paneOf('durations').calls.shown[0].total)",
                "key 3", "wait paneOf('tree').grid.shown.length > 2", "paneOf('tree').grid.shown[1].call.name",
                "key 1", "wait graph && names[fn[selected]] === '\(name)'",
            ], isFlame: false)
        #expect(try found[0] == jq("[.histogram[].calls] | add", ["tail", session, name]))
        #expect(try found[1] == jq(".percentiles[-1].duration_ns", ["tail", session, name]))
        #expect(Array(found[2...]) == ["true", "true", "\"main\""], "\(found)")
    }

    /// A server that has ended is told of in a sentence, and what was drawn stays.
    @Test func theServersEndIsTold() throws {
        let found = try run([
            "do fetch = async () => { throw new TypeError('refused') }", "do show(session.begin, session.begin + 1000)",
            "wait !element('trouble').hidden", "element('trouble').textContent", "pictures.size",
        ])
        #expect(found[0].contains("fathom view has ended") && found[1] == "2", "\(found)")
    }
}
