/// A chunk with memory of its own, which stays when the buffer is gone that it was read into.
final class OwnedChunk {
    private let bytes: UnsafeMutableRawBufferPointer
    let chunk: Chunk

    /// Copies a chunk; nil when there is no memory for that.
    init?(_ original: Chunk) {
        bytes = .allocate(byteCount: original.size, alignment: 8)
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: original.header, count: Chunk.headerSize))
        UnsafeMutableRawBufferPointer(rebasing: bytes[Chunk.headerSize...]).copyMemory(from: original.payload)
        guard
            let copy = Chunk(
                at: UnsafeRawPointer(bytes.baseAddress!), available: original.size, used: original.payload.count,
                file: original.file,
                offset: original.offset)
        else {
            bytes.deallocate()
            return nil
        }
        chunk = copy
    }

    deinit { bytes.deallocate() }
}
