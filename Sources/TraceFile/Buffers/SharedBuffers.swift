package import CTraceFormat
internal import Glibc
internal import TraceSystem

/// The `buffers` file: shared memory that traced processes write chunks into. It is mapped whole.
///
/// The file is sparse. Processes allocate the slots they use, and a slot that was drained is used again.
package final class SharedBuffers: @unchecked Sendable {
    package let header: UnsafeMutablePointer<fathom_buffers>
    package let slotSize: Int
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let words: UnsafeMutablePointer<UInt32>
    let wordsOffset: Int
    let slotsOffset: Int
    private let slotLimit: UInt32
    /// How many slots were ever used.
    private var high: UInt32 = 0
    /// How many bytes of each slot are known to be in memory, so that they can be read where they are mapped.
    private var readable: [UInt32] = []
    /// Whether what is mapped is the file.
    private var isMapped = true
    /// What the head of the file must say, up to the first field that programs write.
    private var fixed = fathom_buffers()
    private static let fixedSize = MemoryLayout<fathom_buffers>.offset(of: \.recorder_due)!
    private var control = FATHOM_CONTROL_RECORD
    /// Whether a program has written over the head.
    package private(set) var isSpoiled = false
    private let directory: SessionDirectory
    private static let name = SessionFile.buffers.name
    /// A descriptor of the file, which stays good whatever becomes of its path.
    private let reading: Int32
    /// Keeps a place among the descriptors for the moment in which the file is opened again.
    private var spare: Int32

    /// The largest page of any supported machine.
    private static let largestPage = 65536
    /// The size of a page, as the runtime takes it.
    #if arch(x86_64)
        private static let headPage = 4096
    #else
        private static let headPage = largestPage
    #endif

    /// - Throws: ``SessionFileError/cannotCreate(path:errno:)`` when the file system is full or read-only,
    ///   ``SessionFileError/noSharedMemory(path:errno:)`` when it cannot map files.
    package init(
        in directory: SessionDirectory, options: RecordOptions, clock: SessionClock
    ) throws(SessionFileError) {
        wordsOffset = MemoryLayout<fathom_buffers>.size
        let missedOffset = Int(fathom_missed_offset(UInt32(wordsOffset)))
        // Slots start where the largest pages of any supported machine do.
        slotsOffset =
            ((missedOffset + Self.largestPage - 1) & ~(Self.largestPage - 1)) + Int(FATHOM_STEERING_SIZE)
        slotSize = options.bufferSize
        self.directory = directory
        let path = directory.file(Self.name)

        let descriptor = try directory.create(Self.name, O_RDWR)
        defer { close(descriptor) }
        reading = directory.reopen(Self.name, O_RDONLY)
        guard reading >= 0 else { throw .cannotCreate(path: path, errno: errno) }
        spare = Self.takeDescriptor()
        // The first page is written, not left to be allocated when a process touches it, so that a full disk shows here.
        // The runtime allocates later pages before it touches them.
        let error = [UInt8](repeating: 0, count: Self.headPage).withUnsafeBytes { writeAll($0, to: descriptor) }
        guard error == 0 else { throw .cannotCreate(path: path, errno: error) }
        if options.mode == .flight {
            // Programs tell of long calls and of chunks' ends at any moment, and allocate nothing then.
            let requests = Int(fathom_requests_offset(UInt32(wordsOffset)))
            let zeros = [UInt8](repeating: 0, count: missedOffset - requests)
            guard pwrite(descriptor, zeros, zeros.count, off_t(requests)) == zeros.count else {
                throw .cannotCreate(path: path, errno: errno)
            }
        }
        // Every hook reads the first page of this, and processes write into the others at any moment.
        let steering = [UInt8](repeating: 0, count: Int(FATHOM_STEERING_SIZE))
        guard pwrite(descriptor, steering, steering.count, off_t(slotsOffset - steering.count)) == steering.count
        else { throw .cannotCreate(path: path, errno: errno) }
        let windowSlots = Int(fathom_window_slots(UInt32(slotSize)))
        // There are as many slots as the file system lets the file have.
        var slotLimit = Int(FATHOM_SLOT_LIMIT)
        while ftruncate(descriptor, slotsOffset + slotLimit * slotSize) != 0 {
            guard slotLimit > windowSlots else { throw .cannotCreate(path: path, errno: errno) }
            slotLimit /= 2
        }
        size = slotsOffset + slotLimit * slotSize
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { throw .noSharedMemory(path: path, errno: errno) }

        base = memory
        header = memory.assumingMemoryBound(to: fathom_buffers.self)
        words = (memory + wordsOffset).assumingMemoryBound(to: UInt32.self)
        self.slotLimit = UInt32(slotLimit)
        header.pointee = fathom_buffers()
        header.pointee.version = FATHOM_BUFFERS_VERSION
        header.pointee.header_size = UInt32(wordsOffset)
        header.pointee.chunk_header_size = UInt32(MemoryLayout<fathom_chunk>.size)
        header.pointee.words_offset = UInt32(wordsOffset)
        header.pointee.slots_offset = UInt32(slotsOffset)
        header.pointee.slot_limit = UInt32(slotLimit)
        options.tell(&header.pointee, clock)
        // A ring of more slots than there are would never be full, and so never begin anew.
        header.pointee.ring_slots = min(header.pointee.ring_slots, UInt32(slotLimit))
        header.pointee.start_ticks = clock.start.ticks
        header.pointee.start_ns = clock.start.nanoseconds
        header.pointee.ticks_per_second = clock.ticksPerSecond
        header.pointee.clock = clock.kind
        header.pointee.control = control
        header.pointee.recorder_pid = UInt32(getpid())
        header.pointee.magic = FATHOM_BUFFERS_MAGIC
        fixed = header.pointee
    }

    /// Those of an armed program, which its recorders use one after the other.
    package init(opening directory: SessionDirectory) throws(SessionFileError) {
        self.directory = directory
        let path = directory.file(Self.name)
        let descriptor = directory.reopen(Self.name, O_RDWR)
        guard descriptor >= 0 else { throw .cannotCreate(path: path, errno: errno) }
        defer { close(descriptor) }
        reading = directory.reopen(Self.name, O_RDONLY)
        spare = -1
        var head = fathom_buffers(), status = stat()
        let isRead = withUnsafeMutableBytes(of: &head) { pread(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
        wordsOffset = MemoryLayout<fathom_buffers>.size
        slotsOffset = Int(head.slots_offset)
        slotSize = Int(head.slot_size)
        slotLimit = head.slot_limit
        size = slotsOffset + Int(slotLimit) * slotSize
        guard reading >= 0, isRead, head.magic == FATHOM_BUFFERS_MAGIC, head.version == FATHOM_BUFFERS_VERSION,
            Int(head.header_size) == wordsOffset, head.ticks_per_second > 0, slotsOffset > 0, slotSize > 0,
            slotLimit <= FATHOM_SLOT_LIMIT, fstat(descriptor, &status) == 0, Int(status.st_size) >= size,
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { throw .noSharedMemory(path: path, errno: errno) }
        base = memory
        header = memory.assumingMemoryBound(to: fathom_buffers.self)
        words = (memory + wordsOffset).assumingMemoryBound(to: UInt32.self)
        fixed = header.pointee
    }

    /// Gives the first slots their pages, many in a piece, where the disk has plenty of room. Pages that programs touch
    /// one by one lie apart in memory, and then a disk that takes them from there costs twice the processor time. Slots are used
    /// again, the first ones first, and more of them would delay the start.
    package func prepare() {
        let size = min(Int(fathom_window_slots(UInt32(slotSize))) * slotSize, Self.prepared)
        var room = statvfs()
        let descriptor = directory.reopen(Self.name, O_WRONLY)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fstatvfs(descriptor, &room) == 0, UInt(room.f_bavail) * room.f_frsize / UInt(size) >= Self.plenty
        else { return }
        let zeros = [UInt8](repeating: 0, count: size)
        pwrite(descriptor, zeros, size, off_t(slotsOffset))
    }

    /// How much ``prepare()`` writes at most, and how many times that must be free.
    private static let prepared = 512 << 10, plenty: UInt = 2048

    deinit {
        munmap(base, size)
        close(reading)
        if spare >= 0 { close(spare) }
    }

    /// Returns the slots in a state, FATHOM_SLOT_*. Slots that were never used are not looked at: they are holes in the file,
    /// and no room may be left to fill one.
    ///
    /// - Parameter known: slots that are left out.
    package func slots(in state: UInt32, except known: Set<Int> = []) -> [Slot] {
        // The number never falls, and never exceeds the number of slots, whatever a program wrote there.
        high = max(high, min(fathom_load32(&header.pointee.slot_high), slotLimit))
        var snapshot = [UInt32](repeating: 0, count: Int(high))
        let isRead = snapshot.withUnsafeMutableBytes { read($0, at: wordsOffset) }
        guard isRead else { return [] }
        var firstData = 0
        var slots: [Slot] = []
        for index in snapshot.indices where fathom_slot_state(snapshot[index]) == state && !known.contains(index) {
            // The word is read before the chunk, which is whole once the word says so. A word that is not 0 is in no
            // hole.
            let word = snapshot[index] == 0 ? 0 : fathom_load32(words + index)
            guard fathom_slot_state(word) == state else { continue }
            if state == FATHOM_SLOT_FREE, isHole(at: offset(of: index), &firstData) { continue }
            var header = fathom_chunk()
            guard withUnsafeMutableBytes(of: &header, { read($0, at: offset(of: index)) }) else { continue }
            slots.append(Slot(index: index, isFull: state == FATHOM_SLOT_FULL, owner: word >> 2, header: header))
        }
        return slots
    }

    /// Whether a slot that is said to be free was never written to. A program may say that all slots have been used,
    /// and reading a hole takes a page of memory. Do not ask this about other slots: a network file system may not know
    /// yet what was written.
    ///
    /// - Parameter firstData: an offset that no data lies before, counted from the slots that were asked for earlier.
    private func isHole(at offset: Int, _ firstData: inout Int) -> Bool {
        if offset >= firstData {
            let data = lseek(reading, off_t(offset), Self.seekData)
            // ENXIO means that nothing but holes follows. Where the file system cannot tell, everything counts as data.
            firstData = data >= 0 ? Int(data) : errno == ENXIO ? .max : offset
        }
        return offset + MemoryLayout<fathom_chunk>.size <= firstData
    }

    /// SEEK_DATA, which Swift does not see.
    private static let seekData: Int32 = 3

    /// A slot that is not free, with its chunk's header as it was when the slot was looked at.
    package struct Slot {
        package let index: Int
        package let isFull: Bool
        /// The process's index, of which the word holds 30 bits.
        package let owner: UInt32
        package var header: fathom_chunk
    }

    /// What a slot's word says after a program has written over it.
    package static let noState: UInt32 = 3

    /// Lets programs have the slot again. Its chunk then counts no more.
    package func free(_ slot: Slot) {
        if slot.header.magic != 0 {
            let chunk = (base + offset(of: slot.index)).assumingMemoryBound(to: fathom_chunk.self)
            fathom_store32(&chunk.pointee.magic, 0)
        }
        fathom_store32(words + slot.index, FATHOM_SLOT_FREE)
    }

    /// Finishes, in its slot, the chunk of a process that is gone: up to its last record, with those that the process might
    /// have taken back. A ring can then use the slot again.
    ///
    /// - Parameter slot: one that is owned.
    /// - Returns: Whether the chunk is there.
    /// - Complexity: O(records).
    package func finish(_ slot: Slot, _ clock: SessionClock) -> Bool {
        var slot = slot
        slot.header.used = fathom_chunk_written(&slot.header)
        let pathSize = Int(slot.header.path_count) * MemoryLayout<fathom_path_entry>.size
        guard let payload = payload(of: slot), Int(slot.header.used) >= pathSize else { return false }
        let records = UnsafeRawBufferPointer(
            start: payload.start + pathSize, count: Int(slot.header.used) - pathSize)
        var cursor = RecordCursor(
            records, ticks: slot.header.begin_ticks, functionBase: slot.header.function_base)
        var calls: UInt64 = 0
        reading: while true {
            switch cursor.next() {
            case .enter: calls += 1
            case .end, .malformed: break reading
            default: break
            }
        }
        let chunk = (base + offset(of: slot.index)).assumingMemoryBound(to: fathom_chunk.self)
        chunk.pointee.calls = calls
        chunk.pointee.end_ns = slot.header.begin_ns &+ clock.nanoseconds(ticks: cursor.ticks &- slot.header.begin_ticks)
        chunk.pointee.used = slot.header.used
        chunk.pointee.end_ticks = cursor.ticks
        let ends = (base + Int(fathom_ends_offset(UInt32(wordsOffset)))).assumingMemoryBound(to: UInt32.self)
        ends[slot.index] = fathom_ring_end(chunk)
        fathom_store32(words + slot.index, slot.owner << 2 | FATHOM_SLOT_FULL)
        return true
    }

    /// Notes for how many ns the thread that writes into an owned slot had no CPU since its last record.
    package func note(away: UInt64, in slot: Slot) {
        let chunk = (base + offset(of: slot.index)).assumingMemoryBound(to: fathom_chunk.self)
        if chunk.pointee.sequence == slot.header.sequence { fathom_chunk_note_away(chunk, slot.header.used, away) }
    }

    /// Sets a full slot aside for chunks that begin while a ring is held, unless a thread has taken it meanwhile.
    func setAside(_ slot: Slot) {
        _ = fathom_swap32(words + slot.index, slot.owner << 2 | FATHOM_SLOT_FULL, FATHOM_SLOT_SPARE)
    }

    /// The payload of a slot's chunk. It stays as it is until the slot is freed, unless a program writes over it.
    package struct Payload {
        package let start: UnsafeRawPointer
        fileprivate let copy: PayloadCopy?

        fileprivate init(start: UnsafeRawPointer, copy: PayloadCopy?) { (self.start, self.copy) = (start, copy) }

        /// What takes the place of a slot's payload.
        package init(holding bytes: [UInt8]) {
            let copy = PayloadCopy(bytes.count)
            copy.bytes.copyBytes(from: bytes)
            self.init(start: UnsafeRawPointer(copy.bytes.baseAddress!), copy: copy)
        }
    }

    /// The payload of a slot's chunk. Nil when it is not there.
    package func payload(of slot: Slot) -> Payload? {
        let start = offset(of: slot.index) + MemoryLayout<fathom_chunk>.size, size = Int(slot.header.used)
        if isReadable(slot.index, MemoryLayout<fathom_chunk>.size + size) {
            return Payload(start: UnsafeRawPointer(base + start), copy: nil)
        }
        let copy = PayloadCopy(size)
        return read(UnsafeMutableRawBufferPointer(rebasing: copy.bytes[..<size]), at: start)
            ? Payload(start: copy.bytes.baseAddress!, copy: copy) : nil
    }

    /// Whether the first `size` bytes of a slot can be read where they are mapped. What is mapped may be a hole where the file
    /// system has no room, and touching that would raise SIGBUS; the kernel, asked to do it, says so instead. It is asked
    /// once: what a slot holds stays in the file.
    private func isReadable(_ slot: Int, _ size: Int) -> Bool {
        guard isMapped else { return false }
        if slot >= readable.count {
            readable += [UInt32](repeating: 0, count: slot + 1 - readable.count)
        }
        if readable[slot] >= size { return true }
        let start = base + offset(of: slot)
        let whole = (size + Self.largestPage - 1) & ~(Self.largestPage - 1)
        guard madvise(start, min(whole, slotSize), Self.populateRead) == 0 else { return false }
        readable[slot] = UInt32(size)
        return true
    }

    /// MADV_POPULATE_READ, which glibc 2.35 and Linux 5.14 know.
    private static let populateRead: Int32 = 22

    private func offset(of slot: Int) -> Int { slotsOffset + slot * slotSize }

    /// Reads from the file, not from the mapping, which may have a hole there.
    private func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        bytes.isEmpty || pread(reading, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count
    }

    /// Undoes what a program wrote over the parts that only the recorder writes, so that others find them as they were.
    package func repair() {
        withUnsafeBytes(of: &fixed) { fixed in
            let now = UnsafeMutableRawPointer(header)
            guard memcmp(now, fixed.baseAddress!, Self.fixedSize) != 0 else { return }
            isSpoiled = true
            memcpy(now, fixed.baseAddress!, Self.fixedSize)
        }
        if fathom_load32(&header.pointee.control) != control {
            isSpoiled = true
            fathom_store32(&header.pointee.control, control)
        }
        if fathom_load32(&header.pointee.slot_high) > slotLimit { isSpoiled = true }
    }

    /// A count of calls that programs keep in the head; 0 when it cannot be true.
    ///
    /// - Parameter ticks: ticks since the session began. A call takes more than one tick, even on many processors at
    ///   once.
    package func count(_ field: KeyPath<fathom_buffers, UInt64>, within ticks: UInt64) -> UInt64 {
        let count = header.pointee[keyPath: field]
        if count / 256 <= ticks { return count }
        isSpoiled = true
        return 0
    }

    /// A program that was started and cannot be recorded, whether or not it has hooks.
    package struct Missed {
        package var ticks: UInt64
        package var pid: UInt32
        package var reason: UInt32
        package var path: [UInt8]
    }

    /// Notes from number `first` on, in order; nil in place of a note that is missing or no longer valid.
    package func missed(from first: Int) -> [Missed?] {
        let stride = MemoryLayout<fathom_missed>.size, pathOffset = MemoryLayout<fathom_missed>.offset(of: \.path)!
        let start = Int(fathom_missed_offset(UInt32(wordsOffset)))
        let end = Int(fathom_steering_offset(UInt32(slotsOffset)))
        let count = min(Int(fathom_load32(&header.pointee.missed_count)), (end - start) / stride)
        return (min(first, count)..<count).map { index in
            let bytes = base + start + index * stride
            let note = bytes.load(as: fathom_missed.self)
            guard note.size > 0, Int(note.size) <= stride - pathOffset else { return nil }
            let path = UnsafeRawBufferPointer(start: bytes + pathOffset, count: Int(note.size))
            return Missed(ticks: note.ticks, pid: note.pid, reason: note.reason, path: Array(path))
        }
    }

    /// Says when the recorder means to have looked again, so that a thread may wait for a buffer that only a lack of
    /// processor time keeps from being emptied.
    ///
    /// - Parameters:
    ///   - isStarving: whether the recorder knows that it gets too little processor time.
    ///   - wakesOne: whether the thread that has waited longest may go on.
    package func announce(due nanoseconds: UInt64, isStarving: Bool, wakesOne: Bool) {
        let due = UInt32(truncatingIfNeeded: nanoseconds / 1_000_000) << UInt32(FATHOM_DUE_SHIFT)
        fathom_store32(&header.pointee.recorder_due, due | (isStarving ? FATHOM_DUE_STARVING : 0))
        if wakesOne { fathom_wake32(&header.pointee.recorder_due) }
    }

    package func stopRecording() {
        control = FATHOM_CONTROL_CAPPED
        fathom_store32(&header.pointee.control, control)
    }

    /// Whether any other process has the file mapped, including a forked child that has made no calls yet. Nil when the
    /// buffers could not be mapped again; then they are left to the reader, because what is mapped here holds nothing.
    ///
    /// A read lease is granted only when no process has the file open or mapped for writing (fcntl(2), F_SETLEASE), so our
    /// own mapping is taken away meanwhile. The kernel may drop an ended process's mappings a moment after the process
    /// is waited for.
    package func areInUse() -> Bool? {
        mmap(base, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0)
        var isInUse = false
        for _ in 0..<5 {
            isInUse = fathom_try_lease(reading) != 0 && errno == EAGAIN
            if !isInUse { break }
            usleep(1000)
        }
        if spare >= 0 { close(spare) }
        // The file is opened without its name, in case it was removed; and by its name where there is no /proc.
        var descriptor = open("/proc/self/fd/\(reading)", O_RDWR | O_CLOEXEC)
        if descriptor < 0 { descriptor = directory.reopen(Self.name, O_RDWR) }
        isMapped = false
        guard descriptor >= 0 else { return nil }
        let memory = mmap(base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0)
        close(descriptor)
        spare = Self.takeDescriptor()
        isMapped = memory != MAP_FAILED
        return isMapped ? isInUse : nil
    }

    private static func takeDescriptor() -> Int32 { open("/", O_RDONLY | O_CLOEXEC) }

    /// Makes this process, a fork's child, the recorder from now on.
    package func takeOver() { fathom_store32(&header.pointee.recorder_pid, UInt32(getpid())) }

    /// Leaves the buffers to processes that go on. They keep their chunks here, where the reader finds them.
    package func leave() {
        fathom_store32(&header.pointee.recorder_due, 0)
        fathom_store32(&header.pointee.recorder_pid, 0)
    }

    /// Removes the file, when everything was drained and no process writes any more.
    package func remove() { directory.remove(Self.name) }
}

/// Memory of its own for a payload.
private final class PayloadCopy {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ size: Int) { bytes = .allocate(byteCount: max(size, 1), alignment: 16) }

    deinit { bytes.deallocate() }
}
