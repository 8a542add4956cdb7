import CTraceFormat
import Foundation
import Glibc
import TestSupport
import Testing

@testable import TraceFile
@testable import TraceRecording

extension Recording {
    func drain(maxSize: UInt64? = nil, mode: RecordOptions.Mode = .trace) -> Drain {
        var options = RecordOptions()
        options.maxSize = maxSize
        options.mode = mode
        return Drain(buffers: buffers, log: log, clock: clock, options: options)
    }
}

/// Which chunks reach the log, in what order, and what is counted of the others.
@Suite struct DrainTests {
    let directory: TemporaryDirectory
    let recording: Recording
    let payload = records(5)

    init() throws {
        directory = try TemporaryDirectory("drain")
        recording = try Recording(in: directory.file("session.fathom"))
    }

    private func chunk(_ sequence: UInt64, isOpen: Bool = false, pid: Int32 = getpid()) -> fathom_chunk {
        var chunk = recording.header(payload.count, pid: pid, isOpen: isOpen)
        chunk.sequence = sequence
        chunk.calls = isOpen ? 0 : 5
        return chunk
    }

    private func summary(_ drain: Drain) -> RecordingSummary {
        var summary = RecordingSummary(status: .exited(0), session: "")
        drain.summarize(into: &summary)
        return summary
    }

    /// A process that has ended: its id is nobody's.
    private func endedProcess() throws -> Int32 {
        var pid = pid_t()
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { free(arguments[0]) }
        try #require(posix_spawnp(&pid, "true", nil, nil, &arguments, environ) == 0)
        var status: Int32 = 0
        try #require(waitpid(pid, &status, 0) == pid)
        return pid
    }

    @Test func finishedChunksOldestFirst() throws {
        let first = chunk(0), second = chunk(1), third = chunk(2)
        recording.put(third, payload, into: 0, state: FATHOM_SLOT_FULL)
        recording.put(first, payload, into: 1, state: FATHOM_SLOT_FULL)
        recording.put(second, payload, into: 2, state: FATHOM_SLOT_FULL)
        let drain = recording.drain()
        #expect(drain.finish(everything: false).isEmpty)
        #expect(try recording.logged().map(\.sequence) == [0, 1, 2])
        #expect((0..<3).allSatisfy { recording.word(of: $0).pointee == FATHOM_SLOT_FREE })
        #expect(summary(drain).calls == 15 && summary(drain).threads == 1 && summary(drain).processes == 1)
    }

    /// More chunks than one write takes, of which some are large.
    @Test func manyChunks() throws {
        let large = records(1600)
        for sequence in 0..<1000 {
            let isLarge = sequence % 90 == 0
            var header = recording.header(isLarge ? large.count : payload.count)
            (header.sequence, header.calls) = (UInt64(sequence), isLarge ? 1600 : 5)
            recording.put(header, isLarge ? large : payload, into: sequence, state: FATHOM_SLOT_FULL)
        }
        let drain = recording.drain()
        #expect(drain.finish(everything: false).isEmpty)
        #expect(try recording.logged().map(\.sequence) == Array(0..<1000))
        #expect(summary(drain).calls == 12 * 1600 + 988 * 5)
    }

    /// A live process goes on with its chunk; a dead one's is taken, its calls counted by its records.
    @Test func openChunksOfDeadProcesses() throws {
        recording.put(chunk(0, isOpen: true), payload, into: 0, state: FATHOM_SLOT_OWNED)
        var dead = chunk(1, isOpen: true, pid: try endedProcess())
        dead.process = 1
        recording.put(dead, payload, into: 1, state: FATHOM_SLOT_OWNED)
        let drain = recording.drain()
        #expect(drain.finish(everything: false) == [getpid()])
        #expect(try recording.logged().map(\.sequence) == [1])
        #expect(summary(drain).calls == 5)
        // Nobody is left: the other one as well.
        #expect(drain.finish(everything: true).isEmpty)
        #expect(try recording.logged().map(\.sequence) == [1, 0])
        #expect(summary(drain).calls == 10)
    }

    /// In a ring, the chunks of dead processes, and of images that others took the place of, stay where they are, as full
    /// ones.
    @Test func ringTakesUpWhatDeadProcessesLeave() throws {
        let ended = try endedProcess()
        var dead = chunk(3, isOpen: true, pid: ended), replaced = chunk(0, isOpen: true), metadata = chunk(0)
        dead.process = 1
        (dead.begin_ticks, dead.begin_ns) = (dead.begin_ticks - 1000, dead.begin_ns)
        // The last of its calls may have been taken back.
        dead.used = UInt32(records(4).count)
        dead.payload_sum = UInt64(payload.count)
        replaced.process = 2
        (metadata.process, metadata.kind, metadata.thread, metadata.calls) = (4, UInt8(FATHOM_CHUNK_METADATA), 0, 0)
        recording.put(chunk(0, isOpen: true), payload, into: 0, state: FATHOM_SLOT_OWNED)
        recording.put(dead, payload, into: 1, state: FATHOM_SLOT_OWNED)
        let drain = recording.drain(mode: .flight)
        drain.finishLeft()
        #expect((0..<2).map { recording.word(of: $0).pointee } == [FATHOM_SLOT_OWNED, 1 << 2 | FATHOM_SLOT_FULL])
        let left = try #require(recording.buffers.slots(in: FATHOM_SLOT_FULL).first?.header)
        #expect(left.calls == 5 && left.used == UInt32(payload.count) && left.end_ticks == dead.begin_ticks + 9)
        // Another process has the same id, in a namespace of its own perhaps.
        recording.put(metadata, into: 2, state: FATHOM_SLOT_FULL)
        recording.put(replaced, payload, into: 3, state: FATHOM_SLOT_OWNED)
        _ = drain.finish(everything: false)
        drain.finishLeft()
        #expect(recording.word(of: 3).pointee == 2 << 2 | FATHOM_SLOT_OWNED)
        // It took the place of image 2.
        var item = fathom_end_item()
        (item.item.kind, item.item.size) = (UInt16(FATHOM_ITEM_END), UInt32(MemoryLayout<fathom_end_item>.size))
        item.how = FATHOM_END_EXEC
        let items = withUnsafeBytes(of: item) { Array($0) }
        (metadata.process, metadata.used) = (2, UInt32(items.count))
        recording.put(metadata, items, into: 2, state: FATHOM_SLOT_FULL)
        _ = drain.finish(everything: false)
        drain.finishLeft()
        #expect(recording.word(of: 3).pointee == 2 << 2 | FATHOM_SLOT_FULL)
        #expect(recording.word(of: 0).pointee == FATHOM_SLOT_OWNED)
        #expect(summary(drain).spoiledChunks == 0)
    }

    /// What a ring had to grow by while it was copied is set aside for the next time, the oldest chunks first.
    @Test func ringIsAsLargeAsBefore() throws {
        recording.buffers.header.pointee.ring_slots = 3
        for (slot, end) in [50, 20, 40, 10].enumerated() {
            var full = chunk(UInt64(slot))
            full.end_ticks = UInt64(end)
            recording.put(full, payload, into: slot, state: FATHOM_SLOT_FULL)
        }
        recording.put(chunk(9, isOpen: true), payload, into: 4, state: FATHOM_SLOT_OWNED)
        func words() -> [UInt32] { (0..<5).map { recording.word(of: $0).pointee } }
        let before = words()
        recording.buffers.releaseRing()
        #expect(words() == before, "nobody held it")
        recording.buffers.holdRing()
        #expect(recording.buffers.header.pointee.ring_held == 1)
        recording.buffers.releaseRing()
        #expect(recording.buffers.header.pointee.ring_held == 0)
        let (full, spare) = (FATHOM_SLOT_FULL, FATHOM_SLOT_SPARE)
        #expect(words() == [full, spare, full, spare, FATHOM_SLOT_OWNED])
    }

    /// A field of a chunk's header, and what a program may have written over it.
    enum Field: CaseIterable {
        case used, usedToTheLast, pathCount, inherited, thread, pid, begin

        func spoil(_ chunk: inout fathom_chunk) {
            switch self {
            case .used: chunk.used = 0x7fff_ffff
            case .usedToTheLast: chunk.used = .max
            case .pathCount: chunk.path_count = 1
            case .inherited: chunk.inherited = 1
            case .thread: chunk.thread = 0
            case .pid: chunk.pid += 1
            case .begin: chunk.begin_ticks = .max
            }
        }
    }

    @Test(arguments: Field.allCases) func spoiledChunk(_ field: Field) throws {
        var metadata = chunk(0)
        (metadata.kind, metadata.thread, metadata.calls) = (UInt8(FATHOM_CHUNK_METADATA), 0, 0)
        recording.put(metadata, into: 0, state: FATHOM_SLOT_FULL)
        let drain = recording.drain()
        _ = drain.finish(everything: false)
        var spoiled = chunk(1)
        field.spoil(&spoiled)
        recording.put(spoiled, payload, into: 0, state: FATHOM_SLOT_FULL)
        recording.put(chunk(2), payload, into: 1, state: FATHOM_SLOT_FULL)
        _ = drain.finish(everything: true)
        #expect(try recording.logged().map(\.sequence) == [0, 2])
        #expect(summary(drain).spoiledChunks == 1 && drain.losses.spoiledChunks == 1)
        #expect(recording.word(of: 0).pointee == FATHOM_SLOT_FREE)
    }

    @Test func slotWordWrittenOver() throws {
        recording.put(chunk(0), payload, into: 0, state: SharedBuffers.noState)
        let drain = recording.drain()
        _ = drain.finish(everything: true)
        #expect(try recording.logged().map(\.sequence) == [0])
    }

    @Test func sizeCap() throws {
        for slot in 0..<4 { recording.put(chunk(UInt64(slot)), payload, into: slot, state: FATHOM_SLOT_FULL) }
        let drain = recording.drain(maxSize: recording.log.bytes + 2 * TraceLogWriter.size(of: chunk(0)))
        _ = drain.finish(everything: true)
        #expect(try recording.logged().map(\.sequence) == [0, 1])
        let summary = summary(drain)
        #expect(summary.isCapped && summary.calls == 10 && summary.unwrittenCalls == 10)
        #expect(recording.buffers.header.pointee.control == FATHOM_CONTROL_CAPPED)
        #expect(!drain.keepsChunks)
    }

    /// The counts of calls that were lost before a chunk reach the sum even when they are as large as can be.
    @Test func lossesAreAddedUp() throws {
        var first = chunk(0), second = chunk(1)
        (first.lost_calls, second.lost_calls) = (7, 8)
        recording.put(first, payload, into: 0, state: FATHOM_SLOT_FULL)
        recording.put(second, payload, into: 1, state: FATHOM_SLOT_FULL)
        recording.buffers.header.pointee.unplaced_calls = 100
        let drain = recording.drain()
        _ = drain.finish(everything: true)
        #expect(summary(drain).lostCalls == 115 && drain.losses.unplacedCalls == 100)
        #expect(UInt64.max.addingClamped(1) == .max)
    }

    /// Where the disk is full, chunks stay in their slots until there is room again, or for the reader. They are counted once.
    @Test(.enabled(if: Privilege.mounts)) func fullDisk() throws {
        let files = try SmallFileSystem("size=160k")
        let recording = try Recording(in: files.directory.file("session.fathom"))
        var metadata = recording.header(payload.count)
        (metadata.kind, metadata.thread, metadata.calls) = (UInt8(FATHOM_CHUNK_METADATA), 0, 0)
        recording.put(metadata, payload, into: 0, state: FATHOM_SLOT_FULL)
        var calls = recording.header(payload.count)
        calls.calls = 5
        recording.put(calls, payload, into: 1, state: FATHOM_SLOT_FULL)
        let filler = open(files.directory.file("filler"), O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 0, count: 4096)
        while write(filler, block, block.count) == block.count {}
        close(filler)
        // The log's last page has some room left, which chunks of this size fill but for less than one.
        while block.withUnsafeBytes({ recording.log.append(calls, payload: $0.baseAddress!) }) {}
        let drain = recording.drain()
        let logged = try recording.logged().count
        _ = drain.finish(everything: false)
        #expect(drain.keepsChunks)
        #expect((0..<2).allSatisfy { recording.word(of: $0).pointee & 3 == FATHOM_SLOT_FULL })
        #expect(try recording.logged().count == logged)
        #expect(summary(drain).calls == 5 && summary(drain).unwrittenCalls == 0 && summary(drain).writeError != nil)
        unlink(files.directory.file("filler"))
        _ = drain.finish(everything: true)
        #expect(try recording.logged().count == logged + 2 && !drain.keepsChunks)
        #expect(summary(drain).calls == 5)
    }

    @Test func endOfTheProcessThatWasWaitedFor() throws {
        var metadata = recording.header(0, process: 3, pid: 4242)
        (metadata.kind, metadata.thread) = (UInt8(FATHOM_CHUNK_METADATA), 0)
        recording.put(metadata, into: 0, state: FATHOM_SLOT_FULL)
        let drain = recording.drain()
        _ = drain.finish(everything: true)
        drain.noteEnd(of: 4242, status: 9, ticks: recording.clock.now)
        drain.noteEnd(of: 1, status: 0, ticks: recording.clock.now)  // never seen: nothing to tell
        let chunks = try recording.logged()
        #expect(chunks.map(\.process) == [3, 3] && chunks.map(\.sequence) == [0, 1])
    }

    private func metadata(_ sequence: UInt64, isOpen: Bool = false, pid: Int32) -> fathom_chunk {
        var chunk = recording.header(0, pid: pid, isOpen: isOpen)
        (chunk.kind, chunk.thread, chunk.sequence) = (UInt8(FATHOM_CHUNK_METADATA), 0, sequence)
        return chunk
    }

    /// Where others have recorded before: what processes told of themselves then is kept, if they were alive when this began,
    /// even of those that have ended by the time it is read.
    @Test func recordedBefore() throws {
        let helper = Process()
        helper.executableURL = URL(fileURLWithPath: "/bin/sleep")
        helper.arguments = ["1000"]
        try helper.run()
        recording.put(metadata(0, pid: helper.processIdentifier), into: 0, state: FATHOM_SLOT_FULL)
        var gone = metadata(0, pid: try endedProcess())
        gone.process = 1
        recording.put(gone, into: 1, state: FATHOM_SLOT_FULL)
        recording.put(chunk(0, pid: helper.processIdentifier), payload, into: 2, state: FATHOM_SLOT_FULL)
        let drain = recording.drain()
        drain.beginHere(with: LivingProcesses())
        kill(helper.processIdentifier, SIGKILL)
        helper.waitUntilExit()
        recording.put(metadata(1, pid: helper.processIdentifier), into: 3, state: FATHOM_SLOT_FULL)
        #expect(drain.finish(everything: false).isEmpty)
        let chunks = try recording.logged()
        #expect(chunks.map(\.process) == [0, 0] && chunks.map(\.sequence) == [0, 1])
    }

    /// What a process finishes between the last look and the copy of what it has open comes before it.
    @Test func finishedBeforeTheCopy() throws {
        let drain = recording.drain()
        _ = drain.finish(everything: false)
        recording.put(metadata(0, pid: getpid()), into: 0, state: FATHOM_SLOT_FULL)
        recording.put(metadata(1, isOpen: true, pid: getpid()), into: 1, state: FATHOM_SLOT_OWNED)
        drain.copyUnfinished()
        #expect(try recording.logged().map(\.sequence) == [0, 1])
    }

    /// A drain that runs in a thread of its own takes what comes, and ends when nobody is left.
    @Test func runsUntilNobodyNeedsIt() throws {
        for slot in 0..<3 { recording.put(chunk(UInt64(slot)), payload, into: slot, state: FATHOM_SLOT_FULL) }
        var asked = 0
        recording.drain().run {
            asked += 1
            return asked < 2
        }
        #expect(asked == 2)
        #expect(try recording.logged().count == 3)
    }
}
