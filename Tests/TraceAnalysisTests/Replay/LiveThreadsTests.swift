import CTraceFormat
import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFile

/// The open calls of a thread, read while it writes.
@Suite struct LiveThreadsTests {
    let directory: TemporaryDirectory
    let recording: Recording

    init() throws {
        directory = try TemporaryDirectory("live")
        recording = try Recording(in: directory.file("session.fathom"))
    }

    private func live(marks: Bool = false) throws -> LiveThreads {
        try LiveThreads(of: directory.file("session.fathom"), wantsMarks: marks)
    }

    private struct Call {
        var function: UInt64
        var enter: UInt64
    }

    /// Puts an unfinished chunk of one thread into a slot.
    private func put(
        _ records: RecordWriter, path: [Call] = [], depth: Int? = nil, sequence: UInt64 = 0, begin: UInt64 = 0,
        final: Int? = nil, into slot: Int = 0, isFull: Bool = false, lane: UInt32 = 0
    ) {
        var bytes: [UInt8] = []
        for word in path.flatMap({ [$0.function, 0 as UInt64, $0.enter] }) {
            withUnsafeBytes(of: word) { bytes += Array($0) }
        }
        bytes += records.bytes
        var chunk = recording.header(final.map { path.count * 24 + $0 } ?? bytes.count, isOpen: !isFull)
        if final != nil { chunk.payload_sum = UInt64(bytes.count) }
        chunk.path_count = UInt32(path.count)
        chunk.depth = UInt32(depth ?? path.count)
        chunk.sequence = sequence
        chunk.begin_ticks = begin
        chunk.lane = lane
        recording.put(chunk, bytes, into: slot, state: isFull ? FATHOM_SLOT_FULL : FATHOM_SLOT_OWNED)
    }

    private func functions(_ thread: LiveThread?) -> [UInt64] { thread?.calls.map(\.function) ?? [] }

    @Test func grows() throws {
        let live = try live()
        #expect(live.look().isEmpty)
        var records = RecordWriter(time: 100)
        records.enter(0x10, at: 110)
        records.enter(0x20, at: 120)
        put(records, begin: 100)
        let first = try #require(live.look().first)
        #expect(functions(first) == [0x10, 0x20] && first.calls.map(\.enterTicks) == [110, 120])
        #expect(first.isMain && first.lastTicks == 120)
        records.exit(at: 130)
        records.enter(0x30, at: 140)
        records.enter(0x5555_0000_0040, at: 1_000_000)
        put(records, begin: 100)
        let second = try #require(live.look().first)
        #expect(functions(second) == [0x10, 0x30, 0x5555_0000_0040] && second.calls.last?.enterTicks == 1_000_000)
        records.unwind(2, at: 1_000_100)
        put(records, begin: 100)
        #expect(functions(live.look().first) == [0x10])
    }

    /// A chunk begins with the calls that are open there. Where it does not list the outermost, they are known from before.
    @Test func pathOfTheNextChunk() throws {
        let live = try live()
        var records = RecordWriter(time: 100)
        for function in 1...5 as ClosedRange<UInt64> { records.enter(function, at: 100 + function) }
        put(records, begin: 100)
        #expect(functions(live.look().first) == [1, 2, 3, 4, 5])
        var next = RecordWriter(time: 200)
        next.enter(6, at: 210)
        put(
            next, path: [Call(function: 4, enter: 104), Call(function: 5, enter: 105)], depth: 5, sequence: 1,
            begin: 200)
        #expect(functions(live.look().first) == [1, 2, 3, 4, 5, 6])
        // Without that, they are open, and nothing else is known of them.
        #expect(functions(try self.live().look().first) == [0, 0, 0, 4, 5, 6])
    }

    /// What the thread may yet take back counts as long as it is there.
    @Test func callsThatMayBeTakenBack() throws {
        let live = try live()
        var records = RecordWriter(time: 100)
        records.enter(1, at: 110)
        let final = records.bytes.count
        records.enter(2, at: 120)
        put(records, begin: 100, final: final)
        #expect(functions(live.look().first) == [1, 2])
        var other = RecordWriter(time: 100)
        other.enter(1, at: 110)
        other.enter(3, at: 150)
        put(other, begin: 100)
        #expect(functions(live.look().first) == [1, 3])
    }

    /// Coroutines have stacks of their own.
    @Test func lanes() throws {
        let live = try live()
        var records = RecordWriter(time: 100)
        records.enter(1, at: 110)
        records.lane(5, depth: 0, at: 120)
        records.enter(2, at: 130)
        put(records, begin: 100)
        let thread = try #require(live.look().first)
        #expect(thread.lane == 5 && functions(thread) == [2] && thread.parked[0]?.map(\.function) == [1])
        records.lane(0, depth: 1, at: 140)
        put(records, begin: 100)
        let back = try #require(live.look().first)
        #expect(back.lane == 0 && functions(back) == [1] && back.parked[5]?.map(\.function) == [2])
    }

    /// Long calls are told of when they have ended, also in a chunk that the thread has left, and when it has ended itself.
    @Test func endsAndMarks() throws {
        let live = try live(marks: true)
        live.longTicks = 50
        var records = RecordWriter(time: 100)
        records.enter(1, at: 110)
        put(records, begin: 100)
        #expect(live.look().first?.ended.isEmpty == true)
        records.mark(3, at: 115)
        records.exit(at: 200)
        put(records, begin: 100, isFull: true)
        var next = RecordWriter(time: 300)
        next.enter(2, at: 310)
        put(next, sequence: 1, begin: 300, into: 1)
        let thread = try #require(live.look().first)
        #expect(thread.ended.map(\.call.function) == [1] && thread.ended.map(\.ticks) == [200])
        #expect(thread.marks.map(\.name) == [3] && !thread.hasMissedRecords && functions(thread) == [2])
        next.exit(at: 400)
        put(next, sequence: 1, begin: 300, into: 1, isFull: true)
        #expect(live.look().isEmpty)
        #expect(live.departed.first?.ended.map(\.call.function) == [2])
        #expect(live.look().isEmpty && live.departed.isEmpty)
    }

    /// A program may write anything there.
    @Test func damage() throws {
        let live = try live()
        var chunk = recording.header(64, isOpen: true)
        chunk.depth = 1 << 20
        recording.put(chunk, [UInt8](repeating: 0xff, count: 64), into: 0, state: FATHOM_SLOT_OWNED)
        #expect(live.look().count == 1)
        chunk.used = 1 << 30
        recording.put(chunk, into: 0, state: FATHOM_SLOT_OWNED)
        #expect(live.look().isEmpty)
        recording.buffers.header.pointee.slot_high = .max
        #expect(live.look().isEmpty)
    }
}
