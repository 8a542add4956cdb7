internal import CTraceFormat
internal import Glibc

/// The chunks of a packed log, of which those in use are in memory.
///
/// Each chunk's payload has a place in a stretch of addresses, where nothing can be read until somebody holds the chunk. So a reader
/// that forgets to hold it ends at once, and never reads something else. Several threads may hold chunks.
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
    /// Of some frames, the open calls that their chunks list, one chunk after the other.
    private var paths: [Int: [UInt8]] = [:]
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    /// What is in memory though nobody holds it. The next frame gets the memory of the oldest of them.
    private static let mostIdle = 4
    private static let page = 4096
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
        /// From ``base``, in bytes; whole pages.
        let place: Range<Int>
    }

    private enum State {
        case absent, arriving, damaged
        /// It is in memory, and so many hold it.
        case present(holders: Int)
    }

    /// - Throws: ``TraceFileError/unreadable(path:errno:)`` when there are not enough addresses.
    init(_ packed: PackedFile, path: String) throws(TraceFileError) {
        self.packed = packed
        var row = 0, place = 0, frames: [Frame] = [], states: [State] = []
        for entry in packed.entries where entry.section.kind == FATHOM_SECTION_FRAME {
            let rows = row..<row + Int(entry.section.count)
            let held = packed.chunks[rows].reduce(0) { $0 + $1.room }
            row = rows.upperBound
            let size = (held + Self.page - 1) & ~(Self.page - 1)
            frames.append(Frame(entry: entry, rows: rows, place: place..<place + size))
            // Otherwise these rows are not its own.
            states.append(UInt64(held) == entry.section.raw_size ? .absent : .damaged)
            place += size
        }
        (self.frames, self.states) = (frames, states)
        size = max(place, Self.page)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_NORESERVE)
        guard let base = mmap(nil, size, PROT_NONE, flags, -1, 0), base != MAP_FAILED else {
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
        for frame in frames {
            let isMetadata = rows[frame.rows].contains { $0.header.kind == UInt8(FATHOM_CHUNK_METADATA) }
            var holding = Holding()
            let isReadable = !isMetadata || hold(base + frame.place.lowerBound, by: &holding)
            var payload = UnsafeRawPointer(base) + frame.place.lowerBound
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
        let offset = payload - UnsafeRawPointer(base)
        let index = frames.partitioningIndex { $0.place.upperBound > offset }
        guard index < frames.count else { return false }
        if let known = holding.frames.firstIndex(of: index) {
            holding.frames.swapAt(known, holding.frames.count - 1)
        } else {
            guard take(index) else { return false }
            holding.frames.append(index)
            if holding.frames.count > 2 { giveBack([holding.frames.removeFirst()]) }
        }
        let start = UInt(bitPattern: base)
        holding.range =
            start + UInt(frames[index].place.lowerBound)..<start + UInt(frames[index].place.upperBound)
        return true
    }

    /// An open call that the chunk lists whose payload is given; nil when that is damaged.
    ///
    /// - Complexity: O(1), or O(bytes of the packed frame), of which the open calls alone are unpacked.
    func path(_ payload: UnsafeRawPointer, at depth: Int) -> PathEntry? {
        let offset = payload - UnsafeRawPointer(base)
        let index = frames.partitioningIndex { $0.place.upperBound > offset }
        guard index < frames.count else { return nil }
        let frame = frames[index], rows = UnsafeBufferPointer(rebasing: packed.chunks[frame.rows])
        var place = frame.place.lowerBound, start = 0
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
                var donor: Int?
                if idle.count >= Self.mostIdle {
                    donor = idle.removeFirst()
                    // Nobody may have it read until its memory is gone.
                    states[donor!] = .arriving
                }
                pthread_mutex_unlock(mutex)
                if let donor { move(from: frames[donor], to: frames[index]) }
                let isRead = read(frames[index], decoder)
                pthread_mutex_lock(mutex)
                decoders.append(decoder)
                if let donor { states[donor] = .absent }
                states[index] = isRead ? .present(holders: 1) : .damaged
                pthread_cond_broadcast(changed)
                return isRead
            }
        }
    }

    private func read(_ frame: Frame, _ decoder: FrameDecoder) -> Bool {
        let start = base + frame.place.lowerBound
        if frame.place.isEmpty { return true }
        guard mprotect(start, frame.place.count, PROT_READ | PROT_WRITE) == 0 else { return false }
        let rows = UnsafeBufferPointer(rebasing: packed.chunks[frame.rows])
        let isRead = decoder.read(frame.entry, of: packed.file, rows, to: start)
        if !isRead { forget(frame) }
        return isRead
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
            forget(frames[oldest])
        }
    }

    /// Gives the memory of a frame to another one: to take pages from the system and to give them back takes more time than to unpack
    /// what is in them.
    private func move(from old: Frame, to new: Frame) {
        let size = min(old.place.count, new.place.count)
        if size > 0 { fathom_move_pages(base + old.place.lowerBound, base + new.place.lowerBound, size) }
        forget(old)
    }

    /// Takes a frame's memory away.
    private func forget(_ frame: Frame) {
        let start = base + frame.place.lowerBound
        madvise(start, frame.place.count, MADV_DONTNEED)
        mprotect(start, frame.place.count, PROT_NONE)
    }

    /// Writes the log as it is, frame by frame.
    ///
    /// - Returns: 0, or the errno that says why it is not written.
    /// - Complexity: O(bytes of the packed log).
    func copy(to writer: PackedWriter, _ progress: (Double) -> Void) -> Int32 {
        var row = 0
        let memory = GrowingBytes()
        for entry in packed.entries {
            let rows = packed.chunks[row..<row + entry.chunkCount]
            row += entry.chunkCount
            guard [FATHOM_SECTION_FRAME, FATHOM_SECTION_GAP].contains(entry.section.kind) else { continue }
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
