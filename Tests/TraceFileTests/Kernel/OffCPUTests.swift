import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// Context switches in their file, and the times that they split.
@Suite struct OffCPUTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("off-cpu") }

    private func record(
        _ time: UInt64, _ tid: UInt32 = 1000, out: Bool = false, preempted: Bool = false
    ) -> fathom_event {
        let flags = (out ? FATHOM_SWITCH_OUT : 0) | (preempted ? FATHOM_SWITCH_PREEMPTED : 0)
        return fathom_event(ns: time, tid: tid, cpu: 0, flags: UInt16(flags))
    }

    /// A session of one call from 100 to 900 ns, and a file of switches in these blocks.
    private func session(
        _ blocks: [[fathom_event]], until: UInt64 = 1000, lost: UInt64 = 0
    ) throws -> (session: Session, thread: TracedThread) {
        try TraceWriter.session(path) { records in
            records.enter(0x1000, at: 100)
            records.exit(at: 900)
        }
        let made = try SessionDirectory(creating: directory.file("made"))
        let writer = try EventLogWriter(.switches, in: made, start: 0, maxSize: nil)
        for block in blocks { block.withUnsafeBufferPointer { writer.append($0, until: 0, lost: lost) } }
        writer.append(UnsafeBufferPointer(start: nil, count: 0), until: until, lost: 0)
        writer.close()
        #expect(rename(directory.file("made/switches"), path + "/switches") == 0)
        let session = try Session(path: path)
        return (session, try #require(session.processes.first?.threads.first))
    }

    /// What moves between threads has no CPU when the thread that it is on has none, and while it is on no thread.
    @Test func joinedFromThreads() throws {
        let (_, thread) = try session([
            [record(200, out: true), record(300), record(500, out: true, preempted: true), record(600)]
        ])
        let times = try #require(thread.offCPU())
        var joined = JoinedOffCPU()
        joined.ran(on: times, from: 100, to: 250)
        joined.waited(from: 250, to: 550)
        joined.ran(on: times, from: 550, to: 700)
        #expect(joined.times.times(from: 0, to: 1000) == OffCPUTimes(blocked: 350, runnable: 50))
        #expect(joined.times.times(from: 0, to: 240) == OffCPUTimes(blocked: 40, runnable: 0))
    }

    @Test func timesAreSplit() throws {
        // Rings of two CPUs: the thread moved, so its switches are not in order in the file.
        let (session, thread) = try session([
            [record(300), record(600, out: true), record(50, 77, out: true)],
            [record(200, out: true), record(400, out: true, preempted: true), record(450), record(700)],
        ])
        let times = try #require(thread.offCPU())
        #expect(times.times(from: 100, to: 900) == OffCPUTimes(blocked: 200, runnable: 50))
        #expect(times.times(from: 250, to: 420) == OffCPUTimes(blocked: 50, runnable: 20))
        #expect(times.times(from: 300, to: 400).isZero && times.times(from: 700, to: 5000).isZero)
        #expect(session.damage.entries.isEmpty && session.switches?.lost == 0)
    }

    /// From its waking on, a thread wants a CPU. Wakings while it has one, or that are not its first, change nothing.
    @Test func wakings() throws {
        _ = try session([
            [
                record(200, out: true), record(400), record(450, out: true, preempted: true), record(500),
                record(600, out: true), record(700), record(750, out: true),
            ]
        ])
        let made = try SessionDirectory(creating: directory.file("woken"))
        let writer = try EventLogWriter(.wakings, in: made, start: 0, maxSize: nil)
        let own = record(0).tid
        let wakings = [(350, 12), (370, 13), (420, 14), (470, 15), (600, 70_000), (900, 0)].map {
            fathom_waking($0.0, own, $0.1)
        }
        wakings.withUnsafeBufferPointer { writer.append($0, until: 1000, lost: 5) }
        writer.close()
        #expect(rename(directory.file("woken/wakings"), path + "/wakings") == 0)
        let session = try Session(path: path)
        let times = try #require(session.processes[0].threads[0].offCPU())
        #expect(times.times(from: 200, to: 400) == OffCPUTimes(blocked: 150, runnable: 50))
        #expect(times.times(from: 400, to: 500) == OffCPUTimes(blocked: 0, runnable: 50))
        #expect(times.times(from: 500, to: 700) == OffCPUTimes(blocked: 0, runnable: 100))
        #expect(times.times(from: 700, to: 1000) == OffCPUTimes(blocked: 150, runnable: 100))
        #expect(session.switches?.wakings(of: own).map(\.waker) == [12, 13, 14, 15, 70_000, 0])
        #expect(session.switches?.lostWakings == 5 && session.switches?.lost == 0)
        #expect(session.damage.entries.isEmpty)
    }

    /// What is not known counts as running: the end of a stretch whose switch is lost, and what came before the first switch.
    /// A thread that did not come back is off its CPU as far as switches are known.
    @Test func lostSwitches() throws {
        let (session, thread) = try session(
            [[record(150), record(200, out: true), record(300, out: true), record(400), record(800, out: true)]],
            until: 850, lost: 3)
        let times = try #require(thread.offCPU())
        #expect(times.times(from: 0, to: 900) == OffCPUTimes(blocked: 150))
        #expect(session.switches?.lost == 3)
    }

    /// Whichever byte of the file is wrong, and wherever it ends, what is before that block is read, and the rest is told of.
    @Test func damage() throws {
        _ = try session([[record(200, out: true), record(300)], [record(400, out: true), record(450)]])
        let whole = try readFile(path + "/switches")
        let first = 32 + 32 + 2 * 16
        for place in stride(from: 0, to: whole.count, by: 5) {
            var bytes = whole
            bytes[place] ^= 0x40
            try writeFile(bytes, to: path + "/switches")
            let session = try Session(path: path)
            let times = session.processes[0].threads[0].offCPU()
            let blocked = times?.times(from: 0, to: 1000).blocked ?? 0
            #expect(blocked <= 1000)
            if place >= first + 64 { #expect(blocked >= 100, "byte \(place)") }
        }
        for size in 33..<whole.count {
            try writeFile(Array(whole[..<size]), to: path + "/switches")
            let session = try Session(path: path)
            let blocked = session.processes[0].threads[0].offCPU()?.times(from: 0, to: 1000).blocked
            #expect(blocked == (size < first ? 0 : size < first + 64 ? 100 : 150), "\(size) bytes")
            let ends = [first, first + 64]
            #expect(session.damage.entries.isEmpty == ends.contains(size), "\(size) bytes")
        }
    }

    /// Parts add up to the whole, and a cursor says what anybody else does.
    @Test(arguments: 0..<20) func partsAddUp(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var stretches: [SwitchLog.Stretch] = []
        var time: UInt64 = 0
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            let begin = time + .random(in: 0...20, using: &random)
            time = begin + .random(in: 0...20, using: &random)
            stretches.append(SwitchLog.Stretch(begin: begin, end: time, wantsCPU: .random(using: &random)))
        }
        let times = OffCPU(stretches) { $0 }
        var cursor = OffCPU.Cursor(times)
        var sum = OffCPUTimes(), last: UInt64 = 0
        while last < time + 10 {
            let next = last + .random(in: 1...15, using: &random)
            let part = cursor.times(from: last, to: next)
            let blocked = stretches.filter { !$0.wantsCPU }.reduce(0) {
                $0 + max(0, Int(min($1.end, next)) - Int(max($1.begin, last)))
            }
            #expect(Int(part.blocked) == blocked && part.blocked + part.runnable <= next - last)
            let start = UInt64.random(in: 0...next, using: &random)
            #expect(cursor.times(from: start, to: next) == times.times(from: start, to: next))
            sum.add(part)
            last = next
        }
        #expect(sum == times.times(from: 0, to: last))
    }

    /// Where the kernel told nothing, calls that wait tell of themselves.
    @Test func waitsAlone() throws {
        try TraceWriter.session(path) { records in
            records.enter(0x1000, at: 100)
            records.enter(0x2000, at: 200)
            records.wait(FATHOM_WAIT_SEMAPHORE, for: 0x7000, ran: 30)
            records.exit(at: 500)
            records.exit(at: 900)
        }
        var text = String(decoding: try readFile(path + "/session.json"), as: UTF8.self)
        let sources = "\"blocked\": {\"context_switches\": false, \"refused\": \"no\"}, "
        text.replace("\"options\"", with: sources + "\"options\"")
        try writeFile(Array(text.utf8), to: path + "/session.json")
        let session = try Session(path: path)
        #expect(session.description?.waitSources == WaitSources(hasSwitches: false, refusal: "no", processors: nil))
        let times = try #require(session.processes[0].threads[0].offCPU())
        #expect(times.times(from: 0, to: 1000) == OffCPUTimes(blocked: 270))
    }
}
