import TestSupport
import TracePage
import TraceText

/// A page of the viewer that has all its data inside, made by hand: each test knows every call of it.
///
/// Times are in ns, of a recording that begins at 1,000 and ends at 101,000.
struct FrozenViewer {
    /// An entry of the picture: `calls` is 1 for a call, more for so many short ones.
    struct Entry {
        var begin: Double
        var length: Double
        var function: Int
        var calls: UInt32 = 1
        var busy: Double?
    }

    struct Lane {
        var name: String
        /// By depth.
        var rows: [[Entry]]
        var blocked: Double? = nil
        /// Parts of the width in which it was blocked.
        var waits: ClosedRange<Double>? = nil
        var marks: [(Double, String)] = []
    }

    static let begin = 1_000.0, end = 101_000.0
    static let names = ["main", "parse", "compute", "sleep_a_while", "std::map<int, long>::find"]

    var lanes: [Lane]
    var content = "calls"
    /// What commands answer, by name and options.
    var answers: [String: String] = [:]

    /// Two threads: `busy` computes, in calls and short ones, and `idle` sleeps most of the time.
    static let two = FrozenViewer(
        lanes: [
            Lane(
                name: "idle",
                rows: [
                    [Entry(begin: 1_000, length: 100_000, function: 0)],
                    [Entry(begin: 21_000, length: 60_000, function: 3)],
                ], blocked: 60_000, waits: 0.2...0.8, marks: [(41_000, "half way")]),
            Lane(
                name: "busy",
                rows: [
                    [Entry(begin: 1_000, length: 100_000, function: 0)],
                    [
                        Entry(begin: 1_000, length: 40_000, function: 1),
                        Entry(begin: 51_000, length: 10_000, function: 2),
                        Entry(begin: 61_000, length: 30_000, function: 2),
                        Entry(begin: 91_000, length: 10_000, function: 1),
                    ],
                    [
                        Entry(begin: 11_000, length: 10_000, function: 4, calls: 900, busy: 4_000),
                        Entry(begin: 71_000, length: 10_000, function: 4),
                    ],
                ], blocked: 0),
        ], answers: ["report": report, "flame": flame])

    private static let report = """
        {"functions":[{"name":"main","module":"/bin/made","file":"/made.c","line":9,"calls":2,"total_ns":200000,\
        "self_ns":50000,"blocked_ns":60000,"runnable_ns":0,"p50_ns":100000,"p99_ns":100000},\
        {"name":"parse","module":"/bin/made","file":"/made.c","line":3,"calls":2,"total_ns":50000,"self_ns":46000,\
        "blocked_ns":0,"runnable_ns":0,"p50_ns":40000,"p99_ns":40000}]}
        """

    private static let flame = """
        {"inverted":false,"colour":"module","total":200000,"names":["main","parse","compute"],"labels":[0,0,0],\
        "lines":[9,3,5],"shades":[0,1,2],"noFile":"no source","groups":{"module":{"names":["made"],"of":[0,0,0]},\
        "file":{"names":["made.c"],"of":[0,0,0]}},"ownTimeSteps":[1],\
        "frames":[0,0,2,0,200000,50000,1,1,2,0,50000,46000,2,1,2,50000,40000,30000]}
        """

    /// Writes the page, and returns where it is.
    func write(to directory: TemporaryDirectory, named name: String = "viewer.html") throws -> String {
        var bytes: [UInt8] = []
        let writer = ByteWriter {
            bytes += $0
            return true
        }
        ViewPage.write(title: "made.fathom", to: writer, content: frozen)
        writer.flush()
        return try directory.write(String(decoding: bytes, as: UTF8.self), to: name)
    }

    private var frozen: FrozenContent {
        let tracks = lanes.enumerated().map { index, lane in
            let calls = lane.rows.joined().reduce(0) { $0 + Int($1.calls) }
            return """
                {"process":0,"tid":\(index + 1),"kind":"thread","name":"\(lane.name)","label":"\(lane.name) \(index + 1)",\
                "begin":1000,"end":101000,"calls":\(calls),"depth":1,"blocked":\(lane.blocked.map { "\($0)" } ?? "null")}
                """
        }
        let events = lanes.map { lane in
            let marks = lane.marks.map { "[\($0.0),\"\($0.1)\"]" }.joined(separator: ",")
            return "{\"blocked\":null,\"marks\":[\(marks)],\"counters\":[]}"
        }
        let list = FrozenViewer.names.map { "\"\($0)\"" }.joined(separator: ",")
        let session = """
            {"version":1,"session":"made.fathom","command":["made"],"began":[0,0],"begin":1000,"end":101000,\
            "content":"\(content)","isRecording":false,"splits":true,"waits":false,"memory":false,"faults":false,\
            "processes":[{"pid":1,"name":"made","command":"made"}],"tracks":[\(tracks.joined(separator: ","))],"summaries":1}
            """
        let names = """
            {"names":[\(list)],"modules":["/bin/made","/bin/made","/bin/made","/lib/c","/lib/c"],\
            "files":["/made.c","/made.c","/made.c",null,null],"lines":[9,3,5,0,0]}
            """
        var frozen = FrozenContent(session: Array(session.utf8))
        frozen.names = Array(names.utf8)
        frozen.events = Array("{\"tracks\":[\(events.joined(separator: ","))]}".utf8)
        frozen.timeline = timeline
        for (key, answer) in answers { frozen.add([key], answer: Array("{\"said\":[],\"answer\":\(answer)}".utf8)) }
        return frozen
    }

    /// All lanes over the whole time, in one tile.
    private var timeline: FrozenTimeline {
        let from = UInt64(FrozenViewer.begin), span = UInt64(FrozenTile.columns * 50)
        var tile = FrozenTile(from: from, unit: 1)
        for (index, lane) in lanes.enumerated() {
            let rows = lane.rows.map { row in
                row.map { entry in
                    FrozenTile.Entry(
                        begin: UInt64(entry.begin), end: UInt64(entry.begin + entry.length),
                        busy: UInt64(entry.busy ?? entry.length), function: UInt32(entry.function), calls: entry.calls)
                }
            }
            let blocked = (0..<FrozenTile.columns).map { column -> UInt8 in
                let part = Double(column * 50) / (FrozenViewer.end - FrozenViewer.begin)
                return lane.waits?.contains(part) == true ? 255 : 0
            }
            tile.add(
                track: index, rows: rows, waits: (blocked, [UInt8](repeating: 0, count: FrozenTile.columns)))
        }
        var level = FrozenTimeline.Level(span: span, unit: 1, step: 50)
        level.add(tile)
        var timeline = FrozenTimeline(origin: from)
        timeline.levels = [level]
        return timeline
    }
}
