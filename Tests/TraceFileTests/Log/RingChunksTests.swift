import CTraceFormat
import TestSupport
import Testing

@testable import TraceFile

/// What is read of a ring, whose oldest chunks were written over.
@Suite struct RingChunksTests {
    private typealias Call = TraceWriter.PathCall
    /// When a chunk begins, and when it ends; 0: not yet.
    private typealias Times = (begin: UInt64, end: UInt64)

    private func chunk(_ thread: UInt32, _ sequence: UInt64, _ time: Times, path: [Call] = []) -> [UInt8] {
        var options = TraceWriter.ChunkOptions()
        (options.thread, options.sequence, options.begin, options.end) = (
            thread, sequence, time.begin, time.end
        )
        options.lostCalls = 3
        options.isSealed = false
        return TraceWriter.chunk(options, path: path, records: [])
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
        #expect(threads.map { $0.chunks.map(\.beginTicks) } == [[100, 200], [50]])
        #expect(try self.threads(slots, keeping: 99).map { $0.chunks.map(\.beginTicks) } == [[200]])
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
