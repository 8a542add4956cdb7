import CTraceFormat
import TestSupport
import Testing

@testable import TraceFile

/// What is read of a ring, whose oldest chunks were written over.
@Suite struct RingChunksTests {
    private typealias Call = TraceWriter.PathCall
    /// When a chunk begins, and when it ends; 0: not yet.
    private typealias Times = (begin: UInt64, end: UInt64)

    private func chunk(
        _ thread: UInt32, _ sequence: UInt64, _ time: Times, path: [Call] = [], records: [UInt8] = [], calls: UInt64 = 0
    ) -> [UInt8] {
        var options = TraceWriter.ChunkOptions()
        (options.thread, options.sequence, options.begin, options.end) = (
            thread, sequence, time.begin, time.end
        )
        options.lostCalls = 3
        options.calls = calls
        options.isSealed = false
        return TraceWriter.chunk(options, path: path, records: records)
    }

    private func threads(_ slots: [[UInt8]], keeping ticks: UInt64 = .max) throws -> [TracedThread] {
        let directory = try TemporaryDirectory("ring")
        let path = directory.file("session.fathom")
        try TraceWriter().write(to: path, buffers: TraceWriter.buffers(slots: slots, ringTicks: ticks))
        let session = try Session(path: path)
        #expect(session.damage.entries.isEmpty, "\(session.damage.entries)")
        return session.processes.flatMap(\.threads)
    }

    /// The first chunk that is left is the thread's first one, and what was open then counts from there.
    @Test func threadsBeginWhereTheRingDoes() throws {
        let path = [Call(function: 16, enter: 100), Call(function: 32, enter: 4000)]
        let threads = try threads([
            chunk(1, 8, (6000, 7000)), chunk(2, 0, (10, 20), path: []), chunk(1, 7, (5000, 6000), path: path),
        ])
        #expect(threads.map(\.serial) == [1, 2])
        let cut = threads[0]
        #expect(cut.isCut && cut.chunks.map(\.sequence) == [0, 1])
        #expect(cut.chunks[0].inherited == 2 && cut.chunks[0].lostCalls == 0 && cut.chunks[1].lostCalls == 3)
        #expect((0..<2).map { cut.chunks[0].path(at: $0).enterTicks } == [5000, 5000])
        #expect(!threads[1].isCut && threads[1].chunks[0].lostCalls == 3, "nothing of it was written over")
    }

    /// What ended too long ago is left out, however much room there was.
    @Test func onlyTheLastTimeIsKept() throws {
        let slots = [chunk(1, 0, (50, 100)), chunk(1, 1, (100, 200)), chunk(1, 2, (200, 300)), chunk(2, 0, (50, 150))]
        let threads = try threads(slots, keeping: 150)
        #expect(threads.map { $0.chunks.map(\.beginTicks) } == [[150, 200], [150]])
        #expect(try self.threads(slots, keeping: 99).map { $0.chunks.map(\.beginTicks) } == [[201]])
    }

    /// A buffer of a thread that calls little goes back for long. It is cut where the time that is kept begins, whether it is
    /// finished or not.
    @Test(arguments: [UInt64(5000), 0]) func buffersAreCutWhereTheTimeBegins(_ end: UInt64) throws {
        let high: UInt64 = 0x7 << 32
        var records = RecordWriter(time: 1000)
        records.enter(high | 32, at: 1100, callSite: high | 20)
        records.enter(high | 48, at: 1200, siteOffset: 9)
        records.exit(at: 1300)
        records.enter(high | 64, at: 1400, siteOffset: 10)
        records.enter(80, at: 90_000, callSite: 77)
        records.mark(5, at: 95_000)
        records.exit(at: 95_100)
        records.exit(at: 95_200)
        records.enter(high | 96, at: 95_300, siteOffset: 4)
        let path = [Call(function: 16, enter: 100)]
        let slots = [chunk(1, 0, (1000, end == 0 ? 0 : 95_300), path: path, records: records.bytes, calls: 5)]

        // From within the long call on; what is kept begins at that moment, and not with the next record.
        var cut = try #require(try threads(slots, keeping: 10_000).first?.chunks.first)
        #expect(cut.isCut && cut.beginTicks == 85_300 && cut.beginNanoseconds == 85_300)
        #expect((0..<Int(cut.pathCount)).map { cut.path(at: $0).function } == [16, high | 32, high | 64])
        #expect((1..<3).map { cut.path(at: $0).callSite } == [high | 20, high | 42])
        #expect((0..<3).allSatisfy { cut.path(at: $0).enterTicks == 85_300 } && cut.inherited == 3 && cut.depth == 3)
        if end != 0 { #expect(cut.calls == 2) }
        var cursor = cut.records
        #expect(cursor.next() == .enter && cursor.function == 80 && cursor.ticks == 90_000)
        #expect(cursor.callSite(callerFunction: high | 64, callerSite: 0) == 77)
        #expect(cursor.next() == .told && cursor.next() == .exit && cursor.next() == .exit)
        #expect(cursor.next() == .enter && cursor.function == high | 96 && cursor.ticks == 95_300)
        #expect(cursor.callSite(callerFunction: high | 32, callerSite: 0) == high | 36 && cursor.next() == .end)

        // A mark is told of even where it is the first thing that is kept.
        cut = try #require(try threads(slots, keeping: 1000).first?.chunks.first)
        cursor = cut.records
        #expect(cut.depth == 4 && cursor.next() == .told && cursor.ticks == 95_000 && cursor.next() == .exit)
        #expect(cursor.ticks == 95_100)
    }

    /// Where more than open calls matters, the buffer stays as it is.
    @Test func buffersOfSeveralStacksAreNotCut() throws {
        var records = RecordWriter(time: 1000)
        records.enter(32, at: 1100)
        records.lane(1, depth: 0, at: 1200)
        records.enter(48, at: 50_000)
        let slots = [chunk(1, 0, (1000, 60_000), records: records.bytes, calls: 2)]
        let kept = try #require(try threads(slots, keeping: 20_000).first?.chunks.first)
        #expect(kept.beginTicks == 1000 && !kept.isCut)
    }

    /// Whether a call is whole in what is kept, or why not.
    @Test func shortcomingsOfCalls() throws {
        func shortcoming(_ begin: UInt64, _ end: UInt64, _ slots: [[UInt8]], thread: UInt32 = 1) throws -> String? {
            let request = RingRequest(
                process: 0, thread: thread, function: 16, endTicks: end, durationTicks: end - begin, conditions: 0)
            return request.shortcoming(in: try threads(slots).flatMap(\.chunks))
        }
        let slots = [chunk(1, 3, (100, 200)), chunk(1, 4, (200, 300)), chunk(2, 0, (50, 400))]
        #expect(try shortcoming(150, 190, slots) == nil)
        #expect(try shortcoming(100, 190, slots) == "its beginning is not kept", "its record was in the chunk before")
        #expect(try shortcoming(50, 190, slots) == "its beginning is not kept")
        #expect(try shortcoming(250, 350, slots) == "it was written over")
        #expect(try shortcoming(150, 250, slots) == "calls within it were lost")
        #expect(try shortcoming(50, 400, slots, thread: 2) == nil && shortcoming(50, 60, slots, thread: 3) != nil)
        #expect(try shortcoming(250, 350, [chunk(1, 3, (100, 200)), chunk(1, 4, (200, 0))]) == nil)
    }

    /// Slots are used again in nearly the order of time. Of a thread's chunks, only those stay that lead to the last one.
    @Test func nothingIsKeptBeforeAHole() throws {
        let path = [Call(function: 16, enter: 150)]
        let kept = try threads([
            chunk(1, 4, (50, 100)), chunk(1, 6, (200, 300), path: path), chunk(1, 7, (300, 400)), chunk(2, 0, (10, 20)),
            chunk(2, 2, (30, 40)),
        ])
        #expect(kept.map { $0.chunks.map(\.beginTicks) } == [[200, 300], [30]])
        #expect(kept.map(\.isCut) == [true, true] && kept[0].chunks.map(\.sequence) == [0, 1])
        #expect(kept[0].chunks[0].inherited == 1)
    }

    /// A chunk was copied while its thread wrote into it, and the one after it a moment later: what is in between is not
    /// known.
    @Test func chunksWithoutEndLeadToNoOthers() throws {
        let kept = try threads([
            chunk(1, 0, (50, 100)), chunk(1, 1, (100, 0)), chunk(1, 2, (200, 300)), chunk(2, 0, (5, 0)),
        ])
        #expect(kept.map { $0.chunks.map(\.beginTicks) } == [[200], [5]])
        #expect(kept.map(\.isCut) == [true, false])
    }
}
