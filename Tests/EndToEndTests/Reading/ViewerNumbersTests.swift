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

    private func run(_ steps: [String]) throws -> [String] {
        let ready = "wait typeof session !== 'undefined' && session && pictures.size === lanes.all.length"
        return try Browser.run(
            "http://127.0.0.1:\(server.port)\(server.root)",
            [ready, "still", "wait !timeline.pending && timeline.still?.version === timeline.version"] + steps,
            isFlame: false)
    }

    /// The page's functions with their calls and times, in the order of their names.
    private static let rows =
        "paneOf('functions').rows.map(row => [row.name, row.calls, row.total_ns, row.self_ns]).sort()"
    private static let reported = "[.functions[] | [.name, .calls, .total_ns, .self_ns]] | sort"

    /// Of the whole time, of a stretch and of a filter.
    @Test func functionsAreThoseOfReport() throws {
        let session = try DrawnRecording().session
        let server = try ViewServer(session, in: directory)
        func rows(_ hash: String) throws -> [String] {
            try Browser.run(
                "http://127.0.0.1:\(server.port)\(server.root)\(hash)",
                ["wait typeof session !== 'undefined' && session && paneOf('functions').rows", Self.rows, "stretch()"],
                isFlame: false)
        }
        let whole = try rows("#pane=functions")
        #expect(try compact(whole[0]) == jq(Self.reported, ["report", session]))
        let bounds = whole[1].filter { !"[] ".contains($0) }.split(separator: ",").compactMap { UInt64($0) }
        try #require(bounds.count == 2)
        let third = (bounds[1] - bounds[0]) / 3, from = bounds[0] + third, to = bounds[1] - third
        let part = ["--from", "\(from)ns", "--to", "\(to)ns"]
        #expect(
            try compact(rows("#range=\(from)-\(to)&pane=functions")[0])
                == jq(Self.reported, ["report", session, "--clip"] + part))
        #expect(
            try compact(rows("#o=-N&o=peek&pane=functions")[0]) == jq(Self.reported, ["report", session, "-N", "peek"]))
    }

    /// Every call is in the picture, by itself or among short ones.
    @Test func picturesHaveAllCalls() throws {
        let session = try DrawnRecording().session
        let server = try ViewServer(session, in: directory)
        let found = try Browser.run(
            "http://127.0.0.1:\(server.port)\(server.root)",
            [
                "wait typeof session !== 'undefined' && session && pictures.size === 1",
                "source.picture({ from: session.begin, to: session.end, width: 999, tracks: [0], rows: [0, 1500] }).then("
                    + "picture => picture.tracks.get(0).calls.reduce((sum, each) => sum + each, 0))",
            ], isFlame: false)
        #expect(try found == [jq("[.functions[].calls] | add", ["report", session])])
    }

    @Test func marksAndCountersAreThere() throws {
        let found = try run([
            "wait lanes.all.some(lane => lane.marks.length > 0)",
            "lanes.all.map(lane => lane.marks.map(mark => mark[1]))",
            "lanes.all.find(lane => lane.track.label.startsWith('main')).counters.map(each => [each.name, each.least, each.most])",
        ])
        #expect(found == [#"[["first token"], ["first token"]]"#, #"[["queued", 0, 7]]"#], "\(found)")
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
