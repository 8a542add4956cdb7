internal import CTraceFormat
internal import Glibc

/// The chunks of a packed log, of which those in use are in memory.
///
/// Each chunk's payload has a place in a stretch of addresses, where nothing can be read before somebody holds the chunk, and
/// soon after nobody does any more. So a reader that forgets to hold it ends at once, or reads what is right, but never something else.
/// Several threads may hold chunks.
final class PackedLog: @unchecked Sendable {
    let packed: PackedFile
    /// Where the payloads are, page after page.
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let frames: [Frame]
    /// By frame; all that follows is changed by whoever has the mutex.
    private var states: [State]
    /// Frames that nobody holds and that are in memory, the one that was given back first in front.
    private var idle: [Int] = []
    private var decoders: [FrameDecoder] = []
    /// The bytes that each frame has for itself: as many as the largest needs, so that the memory of one can go to any other as a
    /// whole.
    private let room: Int
    /// Of some frames, the open calls that their chunks list, one chunk after the other.
    private var paths: [Int: [UInt8]] = [:]
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    /// What is in memory though nobody holds it. The next frame gets the memory of the oldest of them.
    private static let mostIdle = 4
    private static let page = sysconf(Int32(_SC_PAGESIZE))
    private static let anonymous = MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_NORESERVE)
    /// So many frames' open calls are kept.
    private static let mostPaths = 256

    /// What one reader holds: the frame that it reads, and the one before.
    struct Holding {
        fileprivate var frames: [Int] = []
        fileprivate var range: Range<UInt> = 0..<0
    }

    private struct Frame {
        let entry: fathom_packed_entry
        /// Its chunks.
        let rows: Range<Int>
    }

    private enum State {
        case absent, arriving, damaged
        /// It is in memory, and so many hold it.
        case present(holders: Int)
    }

    /// - Throws: ``TraceFileError/unreadable(path:errno:)`` when there are not enough addresses.
    init(_ packed: PackedFile, path: String) throws(TraceFileError) {
        self.packed = packed
        var row = 0, largest = 0, frames: [Frame] = []
        for entry in packed.entries where entry.section.kind == FATHOM_SECTION_FRAME {
            let rows = row..<row + Int(entry.section.count)
            let held = packed.chunks[rows].reduce(0) { $0 + $1.room }
            row = rows.upperBound
            // Otherwise these rows are not its own.
            guard UInt64(held) == entry.section.raw_size else {
                packed.report(entry)
                continue
            }
            frames.append(Frame(entry: entry, rows: rows))
            largest = max(largest, held)
        }
        self.frames = frames
        states = Array(repeating: .absent, count: frames.count)
        room = max((largest + Self.page - 1) / Self.page, 1) * Self.page
        size = max(frames.count, 1) * room
        guard let base = mmap(nil, size, PROT_NONE, Self.anonymous, -1, 0), base != MAP_FAILED else {
            throw .unreadable(path: path, errno: errno)
        }
        self.base = base
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        munmap(base, size)
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// The chunks, in the order of the log. Those that are not about single threads can be read at once, and for as long as this
    /// object is there.
    ///
    /// - Complexity: O(chunks).
    func chunks() -> [Chunk] {
        let rows = packed.chunks
        var chunks: [Chunk] = []
        chunks.reserveCapacity(rows.count)
        for (index, frame) in frames.enumerated() {
            let isMetadata = rows[frame.rows].contains { $0.header.kind == UInt8(FATHOM_CHUNK_METADATA) }
            var holding = Holding()
            let isReadable = !isMetadata || hold(start(of: index), by: &holding)
            var payload = UnsafeRawPointer(start(of: index))
            for row in frame.rows {
                let chunk = Chunk(
                    rows[row], at: UnsafeRawPointer(rows.baseAddress! + row), payload: payload, isReadable: isReadable)
                if let chunk { chunks.append(chunk) }
                payload += rows[row].room
            }
        }
        if !zip(chunks, chunks.dropFirst()).allSatisfy({ $0.offset <= $1.offset }) {
            chunks.sort { $0.offset < $1.offset }
        }
        return chunks
    }

    /// Has the frame in memory in which a payload lies, until ``release(_:)`` is called or two others are held.
    ///
    /// - Returns: Whether it is as it was written.
    /// - Complexity: O(1), but O(bytes of the frame) when it is not in memory.
    func hold(_ payload: UnsafeRawPointer, by holding: inout Holding) -> Bool {
        if holding.range.contains(UInt(bitPattern: payload)) { return true }
        let index = (payload - UnsafeRawPointer(base)) / room
        if let known = holding.frames.firstIndex(of: index) {
            holding.frames.swapAt(known, holding.frames.count - 1)
        } else {
            guard take(index) else { return false }
            holding.frames.append(index)
            if holding.frames.count > 2 { giveBack([holding.frames.removeFirst()]) }
        }
        let start = UInt(bitPattern: start(of: index))
        holding.range = start..<start + UInt(room)
        return true
    }

    /// An open call that the chunk lists whose payload is given; nil when that is damaged.
    ///
    /// - Complexity: O(1), or O(bytes of the packed frame), of which the open calls alone are unpacked.
    func path(_ payload: UnsafeRawPointer, at depth: Int) -> PathEntry? {
        let offset = payload - UnsafeRawPointer(base), index = offset / room
        let frame = frames[index], rows = UnsafeBufferPointer(rebasing: packed.chunks[frame.rows])
        var place = index * room, start = 0
        for row in rows {
            if place == offset {
                guard row.kept == FATHOM_PACKED_RECORDS, depth < Int(row.header.path_count) else { return nil }
                return paths(of: frame, index, rows)?.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: start + depth * PathEntry.size, as: PathEntry.self)
                }
            }
            place += row.room
            start += row.sizeInPaths
        }
        return nil
    }

    private func paths(
        of frame: Frame, _ index: Int, _ rows: UnsafeBufferPointer<fathom_packed_chunk>
    ) -> [UInt8]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if let known = paths[index] { return known }
        let decoder = decoders.popLast() ?? FrameDecoder()
        defer { decoders.append(decoder) }
        guard let bytes = decoder.paths(of: frame.entry, in: packed.file, rows) else { return nil }
        if paths.count == Self.mostPaths { paths = [:] }
        paths[index] = bytes
        return bytes
    }

    /// Gives back what is held.
    func release(_ holding: inout Holding) {
        if !holding.frames.isEmpty { giveBack(holding.frames) }
        holding = Holding()
    }

    /// Whether the frame is in memory now, and stays there.
    private func take(_ index: Int) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch states[index] {
            case .damaged: return false
            case .arriving: pthread_cond_wait(changed, mutex)
            case .present(let holders):
                if holders == 0 { idle.removeAll { $0 == index } }
                states[index] = .present(holders: holders + 1)
                return true
            case .absent:
                states[index] = .arriving
                let decoder = decoders.popLast() ?? FrameDecoder()
                let donor = idle.count >= Self.mostIdle ? idle.removeFirst() : nil
                // Nobody may have it read before its memory is gone.
                if let donor { states[donor] = .arriving }
                pthread_mutex_unlock(mutex)
                let isRead = map(index, from: donor) && read(frames[index], decoder, to: start(of: index))
                if !isRead { forget(index) }
                pthread_mutex_lock(mutex)
                decoders.append(decoder)
                if let donor { states[donor] = .absent }
                states[index] = isRead ? .present(holders: 1) : .damaged
                pthread_cond_broadcast(changed)
                return isRead
            }
        }
    }

    private func start(of index: Int) -> UnsafeMutableRawPointer { base + index * room }

    /// Gives memory to a frame: that of another one which is not needed, because to take pages from the system and to give them back
    /// takes more time than to unpack what is in them.
    ///
    /// - Returns: Whether it has some.
    private func map(_ index: Int, from donor: Int?) -> Bool {
        var isMapped = false
        if let donor {
            isMapped = fathom_move_pages(start(of: donor), start(of: index), room) != 0
            forget(donor)
        }
        // What could not be moved may have left nothing mapped here, and others may have taken these addresses meanwhile.
        let fixed = donor == nil ? MAP_FIXED : Int32(FATHOM_MAP_FREE)
        return isMapped || claim(index, PROT_READ | PROT_WRITE, fixed)
            || donor != nil && mprotect(start(of: index), room, PROT_READ | PROT_WRITE) == 0
    }

    private func claim(_ index: Int, _ protection: Int32, _ fixed: Int32) -> Bool {
        mmap(start(of: index), room, protection, Self.anonymous | fixed, -1, 0) == start(of: index)
    }

    private func read(_ frame: Frame, _ decoder: FrameDecoder, to target: UnsafeMutableRawPointer) -> Bool {
        decoder.read(frame.entry, of: packed.file, UnsafeBufferPointer(rebasing: packed.chunks[frame.rows]), to: target)
    }

    private func giveBack(_ indices: [Int]) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        for index in indices {
            guard case .present(let holders) = states[index] else { continue }
            states[index] = .present(holders: holders - 1)
            if holders == 1 { idle.append(index) }
        }
        while idle.count > Self.mostIdle {
            let oldest = idle.removeFirst()
            states[oldest] = .absent
            forget(oldest)
        }
    }

    /// Takes a frame's memory away. Its addresses lead nowhere then, and are one mapping with others of that kind.
    private func forget(_ index: Int) { _ = claim(index, PROT_NONE, MAP_FIXED) }

    /// Writes the log as it is, frame by frame.
    ///
    /// - Returns: 0, or the errno that says why it is not written.
    /// - Complexity: O(bytes of the packed log).
    func copy(to writer: PackedWriter, _ progress: (Double) -> Void) -> Int32 {
        var row = 0
        let memory = GrowingBytes()
        for lost in packed.lost {
            let error = writer.append(FATHOM_SECTION_LOST, UnsafeRawBufferPointer(start: nil, count: 0)) {
                ($0.place, $0.whole) = (lost.lowerBound, UInt64(lost.count))
            }
            if error != 0 { return error }
        }
        for entry in packed.entries {
            let rows = packed.chunks[row..<row + entry.chunkCount]
            row += entry.chunkCount
            guard [FATHOM_SECTION_FRAME, FATHOM_SECTION_GAP, FATHOM_SECTION_LOST].contains(entry.section.kind) else {
                continue
            }
            memory.clear()
            let room = UnsafeMutableRawBufferPointer(
                start: memory.room(Int(entry.section.stride)), count: Int(entry.section.stride))
            guard packed.file.read(room, at: Int(entry.place)) else { return EIO }
            let error = writer.copy(entry.section, UnsafeRawBufferPointer(room), rows)
            if error != 0 { return error }
            progress(Double(entry.place) / Double(packed.file.size))
        }
        return 0
    }
}
