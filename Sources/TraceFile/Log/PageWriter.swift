internal import CTraceFormat
internal import Glibc

/// Writes chunks that nearly fill their pages as whole pages, past the page cache (open(2), O_DIRECT).
///
/// The disk takes the pages from where they are mapped. Only the first page and the last page of a chunk are copied,
/// because the header gets its checksums, and records that change nothing are added up to the page's end.
final class PageWriter {
    private let descriptor: Int32
    /// Two pages for each chunk of a write.
    private var copies: UnsafeMutableRawPointer?
    private var capacity = 0

    /// The unit of what is written. No disk in use asks for more, and pages of memory are no smaller.
    static let page = 4096
    /// Shorter writes cost as much processor time as a copy does, so they are not made.
    private static let least = 512 << 10
    /// The most bytes to fill up. A thread ends a chunk when there is less room than this.
    private static let mostFilled = 512

    /// - Parameter descriptor: of a file that is open for direct writing, which is closed in the end; -1 when the file
    ///   system does not allow that.
    init?(_ descriptor: Int32) {
        guard descriptor >= 0, fathom_is_in_memory(descriptor) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        free(copies)
    }

    /// The first run of chunks that are worth a write of whole pages; empty, and at the end, when there is none.
    static func run(in chunks: ArraySlice<TraceLogWriter.Part>) -> ArraySlice<TraceLogWriter.Part> {
        var start = chunks.startIndex, size = 0
        for index in chunks.indices {
            if let whole = wholeSize(of: chunks[index]) {
                size += whole
            } else if size >= least {
                return chunks[start..<index]
            } else {
                (start, size) = (index + 1, 0)
            }
        }
        return size >= least ? chunks[start...] : chunks.suffix(0)
    }

    /// The size of a chunk that fills its pages, in bytes. Nil when it is not to fill them, or lies elsewhere than at the
    /// beginning of a page.
    static func wholeSize(of chunk: TraceLogWriter.Part) -> Int? {
        let size = MemoryLayout<fathom_chunk>.size + Int(chunk.header.used), whole = (size + page - 1) / page * page
        let place = Int(bitPattern: chunk.payload) - MemoryLayout<fathom_chunk>.size
        guard UInt32(chunk.header.kind) == FATHOM_CHUNK_RECORDS, whole >= 2 * page, place % page == 0,
            whole - size <= mostFilled, fathom_can_fill(whole - size) != 0
        else { return nil }
        return whole
    }

    /// Writes chunks that have a ``wholeSize(of:)``.
    ///
    /// - Parameter offset: in the file, a multiple of ``page``.
    /// - Returns: The headers of those that were written.
    func write(_ chunks: ArraySlice<TraceLogWriter.Part>, at offset: UInt64) -> ArraySlice<fathom_chunk> {
        guard let copies = makeRoom(2 * Self.page * chunks.count) else { return [] }
        var parts: [iovec] = []
        parts.reserveCapacity(3 * chunks.count)
        var headers: [fathom_chunk] = []
        headers.reserveCapacity(chunks.count)
        for (index, chunk) in chunks.enumerated() {
            let whole = Self.wholeSize(of: chunk)!, first = copies + 2 * Self.page * index, last = first + Self.page
            let start = chunk.payload - MemoryLayout<fathom_chunk>.size
            headers.append(Self.fill(first, last, chunk, whole))
            parts.append(iovec(iov_base: first, iov_len: Self.page))
            if whole > 2 * Self.page {
                let middle = UnsafeMutableRawPointer(mutating: start + Self.page)
                parts.append(iovec(iov_base: middle, iov_len: whole - 2 * Self.page))
            }
            parts.append(iovec(iov_base: last, iov_len: Self.page))
        }
        let written = pwritev(descriptor, parts, Int32(parts.count), off_t(offset))
        return TraceLogWriter.whole(headers, in: UInt64(max(written, 0)))
    }

    /// Makes the first page and the last page of a chunk that is to be `whole` bytes long.
    ///
    /// - Returns: The chunk's header.
    private static func fill(
        _ first: UnsafeMutableRawPointer, _ last: UnsafeMutableRawPointer, _ chunk: TraceLogWriter.Part, _ whole: Int
    ) -> fathom_chunk {
        let headerSize = MemoryLayout<fathom_chunk>.size, used = Int(chunk.header.used)
        let lastStart = whole - page - headerSize  // in the payload
        (first + headerSize).copyMemory(from: chunk.payload, byteCount: page - headerSize)
        last.copyMemory(from: chunk.payload + lastStart, byteCount: used - lastStart)
        fathom_fill(last + (used - lastStart), whole - headerSize - used, chunk.header.function_base)
        var header = chunk.header
        header.used = UInt32(whole - headerSize)
        // Pages and headers have whole stripes, so what is read in place has, too.
        header.seal(payloadSum: fathom_hash_of_two(chunk.payload, lastStart, last, page))
        first.storeBytes(of: header, as: fathom_chunk.self)
        return header
    }

    private func makeRoom(_ size: Int) -> UnsafeMutableRawPointer? {
        if size > capacity {
            free(copies)
            copies = nil
            capacity = posix_memalign(&copies, Self.page, size) == 0 ? size : 0
        }
        return copies
    }
}
