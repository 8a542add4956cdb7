import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What the recorder sees of the memory that programs write, and takes back of what they must not.
@Suite struct SharedBuffersTests {
    let directory: TemporaryDirectory
    let recording: Recording
    var buffers: SharedBuffers { recording.buffers }

    init() throws {
        directory = try TemporaryDirectory("buffers")
        recording = try Recording(in: directory.file("session.fathom"))
    }

    @Test func headTellsProgramsTheOptions() throws {
        let head = buffers.header.pointee
        #expect(head.magic == FATHOM_BUFFERS_MAGIC && head.control == FATHOM_CONTROL_RECORD)
        #expect(head.slot_size == 16 * 1024 && head.paused == 0)
        // Depth 0 is a root, so depth 7 lets 8 calls be open.
        #expect(head.max_depth == 8)
        #expect(head.min_cost_ticks == recording.clock.ticks(nanoseconds: 1000))
        #expect(head.recorder_pid == UInt32(getpid()))
        let paused = try Recording(in: directory.file("paused.fathom"), startsPaused: true)
        withExtendedLifetime(paused) { #expect(paused.buffers.header.pointee.paused == 1) }
    }

    @Test func slotsByState() throws {
        let payload = records(3)
        recording.put(recording.header(payload.count), payload, into: 0, state: FATHOM_SLOT_FULL)
        recording.put(recording.header(0, process: 5, isOpen: true), into: 2, state: FATHOM_SLOT_OWNED)
        let full = buffers.slots(in: FATHOM_SLOT_FULL), owned = buffers.slots(in: FATHOM_SLOT_OWNED)
        #expect(full.map(\.index) == [0] && owned.map(\.index) == [2])
        #expect(full[0].isFull && !owned[0].isFull && owned[0].owner == 5)
        let read = try #require(buffers.payload(of: full[0]))
        #expect(Array(UnsafeRawBufferPointer(start: read.start, count: payload.count)) == payload)
        buffers.free(full[0])
        #expect(buffers.slots(in: FATHOM_SLOT_FULL).isEmpty)
        #expect(recording.word(of: 0).pointee == FATHOM_SLOT_FREE)
    }

    /// Slots that have their pages hold nothing for all that.
    @Test func prepared() throws {
        let file = directory.file("session.fathom/buffers")
        buffers.prepare()
        var status = stat(), room = statvfs()
        try #require(stat(file, &status) == 0 && statvfs(file, &room) == 0)
        let isPlenty = UInt(room.f_bavail) * room.f_frsize >= 2048 * 512 << 10
        #expect((status.st_blocks * 512 >= 512 << 10) == isPlenty)
        #expect(buffers.slots(in: FATHOM_SLOT_FULL).isEmpty && buffers.slots(in: FATHOM_SLOT_OWNED).isEmpty)
        #expect(try Session(path: directory.file("session.fathom")).processes.isEmpty)
    }

    /// Where a program says that there is more than it has written, and the disk is full, touching what is mapped would end
    /// the recorder.
    @Test(.enabled(if: Privilege.mounts)) func payloadWithAHole() throws {
        let files = try SmallFileSystem("size=96k")
        let recording = try Recording(in: files.directory.file("session.fathom"))
        let payload = records(3)
        recording.put(recording.header(12_000), payload, into: 0, state: FATHOM_SLOT_FULL)
        _ = try? files.directory.write(String(repeating: "x", count: 96 << 10), to: "filler")
        let slot = try #require(recording.buffers.slots(in: FATHOM_SLOT_FULL).first)
        let read = try #require(recording.buffers.payload(of: slot))
        let bytes = UnsafeRawBufferPointer(start: read.start, count: 12_000)
        #expect(Array(bytes.prefix(payload.count)) == payload && bytes.dropFirst(payload.count).allSatisfy { $0 == 0 })
    }

    @Test func headIsMended() {
        buffers.repair()
        #expect(!buffers.isSpoiled)
        let before = buffers.header.pointee
        buffers.header.pointee.slot_size = 0
        buffers.header.pointee.slots_offset = .max
        buffers.repair()
        #expect(buffers.isSpoiled)
        #expect(buffers.header.pointee.slot_size == before.slot_size)
        #expect(buffers.header.pointee.slots_offset == before.slots_offset)
    }

    /// A program cannot let itself go on once the log is as long as it may be.
    @Test func controlIsMended() {
        buffers.stopRecording()
        buffers.header.pointee.control = FATHOM_CONTROL_RECORD
        buffers.repair()
        #expect(buffers.isSpoiled && buffers.header.pointee.control == FATHOM_CONTROL_CAPPED)
    }

    /// What threads that find no buffer go by. Who leaves lets nobody wait.
    @Test func recorderSaysWhenItLooks() {
        func due() -> UInt32 { buffers.header.pointee.recorder_due }
        #expect(due() == 0)
        buffers.announce(due: 5_999_999, isStarving: false, wakesOne: false)
        #expect(due() == 5 << FATHOM_DUE_SHIFT)
        buffers.announce(due: (1 << 40) * 1_000_000 + 7_000_000, isStarving: true, wakesOne: true)
        #expect(due() == 7 << FATHOM_DUE_SHIFT | FATHOM_DUE_STARVING)
        buffers.repair()
        #expect(!buffers.isSpoiled && due() == 15)
        buffers.leave()
        #expect(due() == 0)
    }

    @Test func moreSlotsThanThereAre() {
        recording.put(recording.header(0), into: 1, state: FATHOM_SLOT_FULL)
        buffers.header.pointee.slot_high = .max
        #expect(buffers.slots(in: FATHOM_SLOT_FULL).map(\.index) == [1])
        buffers.repair()
        #expect(buffers.isSpoiled)
        // Fewer than before are not believed either.
        buffers.header.pointee.slot_high = 0
        #expect(buffers.slots(in: FATHOM_SLOT_FULL).map(\.index) == [1])
    }

    /// Reading a hole takes a page of memory, and may take a while.
    @Test func holesAreNotRead() throws {
        recording.put(recording.header(0), into: 900, state: FATHOM_SLOT_FREE)
        buffers.header.pointee.slot_high = .max
        let before = try residentPages()
        let found = buffers.slots(in: FATHOM_SLOT_FREE).filter { $0.header.magic == FATHOM_CHUNK_MAGIC }
        #expect(found.map(\.index) == [900])
        #expect(try residentPages() < before + 100)
    }

    /// Pages of the buffers that are in memory.
    private func residentPages() throws -> Int {
        let file = open(recording.directory.file("buffers"), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var status = stat()
        try #require(fstat(file, &status) == 0)
        let size = Int(status.st_size), pageSize = sysconf(Int32(_SC_PAGESIZE))
        let memory = try #require(mmap(nil, size, PROT_READ, MAP_SHARED, file, 0))
        defer { munmap(memory, size) }
        var pages = [UInt8](repeating: 0, count: (size + pageSize - 1) / pageSize)
        try #require(mincore(memory, size, &pages) == 0)
        return pages.count { $0 & 1 != 0 }
    }

    @Test func countsThatCannotBe() {
        buffers.header.pointee.unplaced_calls = 1000
        #expect(buffers.count(\.unplaced_calls, within: 1000) == 1000 && !buffers.isSpoiled)
        buffers.header.pointee.unplaced_calls = .max
        #expect(buffers.count(\.unplaced_calls, within: 1000) == 0 && buffers.isSpoiled)
    }

    @Test func missedCountThatCannotBe() {
        buffers.header.pointee.missed_count = .max
        #expect(buffers.missed(from: 0).allSatisfy { $0 == nil })
    }

    @Test func inUseWhileAProcessHasItMapped() throws {
        #expect(buffers.areInUse() == false)
        let other = open(recording.directory.file("buffers"), O_RDWR | O_CLOEXEC)
        #expect(buffers.areInUse() == true)
        close(other)
        #expect(buffers.areInUse() == false)
        // What programs have written is still there.
        #expect(buffers.header.pointee.magic == FATHOM_BUFFERS_MAGIC)
    }

    /// The place that the recorder keeps is enough to open the file again, with no descriptor to be had.
    @Test func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory("descriptors")
            let recording = try Recording(in: directory.file("session.fathom"))
            while open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 {}
            try #require(errno == EMFILE)
            for _ in 0..<3 { try #require(recording.buffers.areInUse() == false) }
            let magic = withExtendedLifetime(recording) { recording.buffers.header.pointee.magic }
            try #require(magic == FATHOM_BUFFERS_MAGIC)
        }
    }

    @Test(.enabled(if: Privilege.mounts)) func fullDisk() throws {
        let files = try SmallFileSystem("size=4k")
        let path = files.directory.file("session.fathom")
        #expect(throws: SessionFileError.cannotCreate(path: "\(path)/buffers", errno: ENOSPC)) {
            _ = try files.directory.write(String(repeating: "x", count: 4096), to: "filler")
            _ = try Recording(in: path)
        }
    }
}
