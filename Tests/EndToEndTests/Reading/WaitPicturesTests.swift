internal import Foundation
internal import Glibc
import TestSupport
import Testing

/// What other programs and pages are told of waits.
@Suite struct WaitPicturesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("wait-pictures") }

    private func contended(_ way: RecordedWaits.Way) throws -> RecordedWaits {
        try RecordedWaits(try Binaries.instrumented("contended.c", .gccO2), ["5"], way, in: directory)
    }

    private func export(_ format: String, _ recorded: RecordedWaits) throws -> String {
        let file = directory.file(format)
        let output = try Fathom.run(["export", recorded.session, "--format", format, "-o", file])
        #expect(output.status == 0, "\(output.stderr)")
        return file
    }

    /// Perfetto has who ended the waits and, where the kernel told, when each thread had which CPU.
    @Test(arguments: RecordedWaits.Way.allCases) func perfetto(_ way: RecordedWaits.Way) throws {
        let binary = try Binaries.instrumented("contended.c", .gccO2)
        let recorded = try RecordedWaits.undisturbed(binary, ["5"], way, in: directory)
        let knowsSwitches = try recorded.knowsSwitches()
        let text = try run(
            "\(Binaries.repository)/Tools/perfetto-query",
            [
                "\(ExportRecording.built)/consumers/perfetto", try export("perfetto", recorded),
                // How many waits of the workers for the lock were ended by another worker.
                "select count(*) from flow join slice a on a.id = flow.slice_out join slice b on b.id = flow.slice_in "
                    + "where a.name = 'ends a wait (lock)' and b.name = 'waited (lock)' and a.track_id != b.track_id",
                "select count(*) from flow join slice a on a.id = flow.slice_out join slice p on p.id = a.parent_id "
                    + "where a.name = 'ends a wait (lock)' and p.name = 'give_back'",
                "select count(distinct utid) from thread_state join thread using (utid) where state in ('S', 'R') and tid > 0",
                "select count(distinct cpu) > 0 and sum(dur) > 0 from sched join thread using (utid) where tid > 0",
            ])
        #expect(text.status == 0, "\(text.stderr)")
        let lines = text.stdout.split(separator: "\n").map { Int($0.dropFirst().dropLast()) }
        try #require(lines.count == 4, "\(text.stdout)")
        let waits = Int(recorded.measured["waits"] ?? 0)
        // The program does not count waits of less than a tenth of a millisecond. There are few.
        let all = waits...waits + 4
        #expect(all.contains(lines[0] ?? 0) && lines[1] == lines[0], "\(text.stdout) of \(waits)")
        if knowsSwitches { #expect(lines[2] == 4 && lines[3] == 1, "\(text.stdout)") }
    }

    /// In Chrome's files, the ends of calls have the parts of their times; in Firefox's, samples have the time on a CPU.
    @Test func partsInOtherFormats() throws {
        let recorded = try contended(.switches)
        let tree = try recorded.json(["report"])
        let rows = try #require(tree["functions"] as? [[String: Any]])
        let blocked = try #require(rows.first { $0["name"] as? String == "hold" }?["blocked_ns"] as? Double)
        let chrome = try #require(
            try JSONSerialization.jsonObject(with: Data(readFile(export("chrome", recorded)))) as? [[String: Any]])
        let parts = chrome.compactMap { event -> Double? in
            guard event["ph"] as? String == "E", event["name"] as? String == "hold" else { return nil }
            return (event["args"] as? [String: Any])?["blocked_ns"] as? Double
        }
        #expect(abs(parts.reduce(0, +) - blocked) < 1, "\(parts) of \(blocked)")
        let firefox = try #require(
            try JSONSerialization.jsonObject(with: Data(readFile(export("firefox", recorded)))) as? [String: Any])
        let threads = try #require(firefox["threads"] as? [[String: Any]])
        #expect(((firefox["meta"] as? [String: Any])?["sampleUnits"] as? [String: String])?["threadCPUDelta"] == "ns")
        let running = rows.reduce(0.0) { $0 + (($1["running_ns"] as? Double) ?? 0) }
        var sum = 0.0
        for thread in threads {
            let samples = try #require(thread["samples"] as? [String: Any])
            let deltas = try #require(samples["threadCPUDelta"] as? [Any])
            #expect(deltas.count == samples["length"] as? Int)
            sum += deltas.reduce(0) { $0 + (($1 as? Double) ?? 0) }
        }
        #expect(sum > 0 && sum <= running, "\(sum) of \(running)")
    }

    /// A flame chart has what each thread did, and who ended its waits.
    @Test func chart() throws {
        let recorded = try contended(.switches)
        for format in ["html", "svg"] {
            let page = directory.file("chart.\(format)")
            let output = try Fathom.run(["flame", "--time-order", "-o", page, recorded.session])
            #expect(output.status == 0, "\(output.stderr)")
        }
        let picture = String(decoding: try readFile(directory.file("chart.svg")), as: UTF8.self)
        #expect(picture.contains("lock contended") && picture.contains("worker → hold → give_back"))
        #expect(picture.contains("class=\"s1\""))
        try expectArrow(directory.file("chart.html"))
    }

    /// The viewer tells the same, served or saved.
    @Test func viewer() throws {
        let recorded = try contended(.switches), page = directory.file("saved.html")
        let saved = try Fathom.run(["view", recorded.session, "--save", page])
        try #require(saved.status == 0, "\(saved.stderr)")
        try expectArrow(page)
        let server = try ViewServer(recorded.session, in: directory)
        try expectArrow("http://127.0.0.1:\(server.port)\(server.root)")
        withExtendedLifetime(server) {}
    }

    private func expectArrow(_ page: String) throws {
        let found = try Browser.run(page, Self.pointAtWait, isFlame: false)
        #expect(found[0].contains("waited forlock contended") && found[0].contains("hold → give_back"), "\(found)")
        #expect(found[1] == "[true, true, true]", "\(found)")
    }

    /// Steps that point at the longest wait for the lock, and tell what is said, and where the arrow leads. Each lane has its thread's
    /// own time, without what recording took of it, so an arrow may lead a little back.
    private static let pointAtWait = [
        "wait typeof session !== 'undefined' && session && pictures.size === lanes.all.length", "still",
        // The server reads all records first: who goes on pointing is told.
        "do (window.pointing = setInterval(() => { if (wakes.byTrack.length === 0 && lastPointed) tellPointed(lastPointed); }, 100))",
        "move stage", "wait wakes.byTrack.length > 0", "do clearInterval(pointing)",
        """
        do (window.longest = lanes.all.flatMap(lane => (wakes.byTrack[lane.index] ?? []).map(wait => ({ lane, wait }))) \
        .filter(each => each.wait.what.includes('contended') && each.wait.waker?.track >= 0) \
        .reduce((a, b) => b.wait.end - b.wait.begin > a.wait.end - a.wait.begin ? b : a))
        """,
        "move (box => ({ x: box.x + xOf((longest.wait.begin + longest.wait.end) / 2), "
            + "y: box.y + longest.lane.top + 8 - timeline.scrolled, width: 0, height: 0 }))(stage.getBoundingClientRect())",
        "wait !element('tip').hidden && wakes.shown?.wait.what.includes('contended')", "element('tip').textContent",
        """
        (([[from, to]], { begin, end }) => [from.track !== to.track, from.at <= to.at + (end - begin) / 4, to.at === end])\
        (arrowOfWait(), wakes.shown.wait)
        """,
    ]

    /// A flame graph hatches what had no CPU, and tells as much of it as the report does.
    @Test func graph() throws {
        let recorded = try contended(.switches)
        let rows = try #require(try recorded.json(["report"])["functions"] as? [[String: Any]])
        let hold = try #require(rows.first { $0["name"] as? String == "hold" })
        let reported = ["blocked_ns", "runnable_ns"].reduce(0.0) { $0 + ((hold[$1] as? Double) ?? 0) }
        try #require(reported > 0)
        let page = directory.file("graph.html")
        #expect(try Fathom.run(["flame", "-o", page, recorded.session]).status == 0)
        let found = try Browser.run(
            page,
            [
                "still", "[...fn].reduce((sum, f, i) => sum + (names[f] === 'hold' ? data.waiting[i - 1] : 0), 0)",
                "do setColouring('module')",
                // The drawing has the hatching's ground where a call that waited is, which no group of functions has.
                """
                (i => { const ground = [1, 3, 5].map(at => parseInt(palette().waiting[0].slice(at, at + 2), 16)); \
                const { x, y, width } = main.placeOf(i); \
                const pixels = main.context.getImageData(x, y, width, rowHeight - 1).data; \
                return ground.join() !== '' && [...pixels.keys()].some(at => at % 4 === 0 \
                && ground.every((part, c) => pixels[at + c] === part)) })\
                ([...waits.keys()].reduce((a, b) => waits[b] > waits[a] ? b : a))
                """,
                "element('legend').textContent.startsWith('waiting')", "key t",
                "wait paneOf('functions').grid?.shown.length > 0",
                "paneOf('functions').grid.heads.lastChild.textContent",
            ])
        #expect(abs(try #require(Double(found[0])) - reported) < 1, "\(found[0]) of \(reported)")
        #expect(Array(found[1...]) == ["true", "true", #""Waiting""#])
    }

    /// Threads that spin want a CPU for as long as the kernel says.
    @Test(.enabled(if: Privilege.seesSwitches, "the kernel tells nobody like us of context switches"))
    func spinning() throws {
        let recorded = try RecordedWaits(
            try Binaries.instrumented("spinning.c", .gccO2), ["400"], .switches, in: directory)
        try #require(try recorded.knowsSwitches())
        let rows = try #require(try recorded.json(["report"])["functions"] as? [[String: Any]])
        let found = try #require(rows.first { $0["name"] as? String == "spin" }?["runnable_ns"] as? Double)
        let own = try #require(recorded.measured["runnable"])
        #expect(abs(found - own) <= own * 0.03, "\(found) of \(own)")
    }

    /// What was blocked can be compared by itself.
    @Test func difference() throws {
        let recorded = try contended(.switches)
        let other = directory.file("other.fathom")
        _ = rename(recorded.session, other)
        let second = try contended(.switches)
        let text = try Fathom.run(["diff", "--time", "blocked", "--all", other, second.session])
        #expect(text.status == 0 && text.stdout.contains("all, blocked time: "), "\(text)")
        let refused = try Fathom.run(["diff", "--time", "blocked", other, try plain()])
        #expect(refused.status == 2 && refused.stderr.contains("fathom record --blocked"), "\(refused.stderr)")
    }

    private func plain() throws -> String {
        let session = directory.file("plain.fathom")
        let program = try Binaries.instrumented("contended.c", .gccO2)
        let recorded = try Fathom.record([program, "1"], into: session, options: ["--quiet", "--no-blocked"])
        #expect(recorded.status == 0)
        return session
    }
}
