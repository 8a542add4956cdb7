internal import CTraceFormat
internal import Glibc

extension Session {
    /// Writes all that the session holds as a packed file.
    ///
    /// What is damaged stays so: it is packed as it is, and shown as before.
    ///
    /// - Parameters:
    ///   - descriptor: of an empty file, which stays the caller's.
    ///   - files: what is to be in the place of the session's own files of these names.
    ///   - progress: is told how far it is, 0...1.
    /// - Returns: 0, or the errno that says why it is not written.
    /// - Throws: ``TraceFileError`` when the session cannot be read any more.
    /// - Complexity: O(bytes of the session): some 10 ns a call.
    public func pack(
        to descriptor: Int32, with files: [SessionFile: [UInt8]], progress: (Double) -> Void
    ) throws(TraceFileError) -> Int32 {
        let log = try place.log(isGrowing: false).0
        guard let writer = (log?.header ?? []).withUnsafeBytes({ PackedWriter(descriptor, logHeader: $0) }) else {
            return errno
        }
        for file in SessionFile.packed {
            var error: Int32 = 0
            if let bytes = files[file] {
                error = bytes.withUnsafeBytes { writer.append($0, as: file) }
            } else if let content = place.file(file).0 {
                error = writer.append(content, as: file)
            }
            if error != 0 { return error }
        }
        let error: Int32 =
            switch log?.memory {
            case .mapped(let file)?: pack(log!.chunks, of: file, by: writer, progress)
            case .packed(let packed)?: packed.copy(to: writer, progress)
            case nil: 0
            }
        return error != 0 ? error : writer.finish()
    }

    /// Packs chunks thread by thread, so that whoever reads a thread reads no other.
    private func pack(
        _ log: TraceLog, of file: MappedFile, by writer: PackedWriter, _ progress: (Double) -> Void
    ) -> Int32 {
        for gap in log.gaps() {
            var place = gap.lowerBound
            repeat {
                let end = min(place + FrameEncoder.frameSize, gap.upperBound)
                let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[place..<end])
                let error = writer.append(FATHOM_SECTION_GAP, bytes) { $0.place = UInt64(place) }
                if error != 0 { return error }
                place = end
            } while place < gap.upperBound
        }
        // No recorder writes such chunks.
        if log.chunks.contains(where: { $0.payload.count > PackedFile.largestSection / 2 }) { return EFBIG }
        var byThread: [UInt64: [Chunk]] = [:], order: [UInt64] = []
        for chunk in log.chunks {
            let thread = chunk.thread == 0 ? UInt64.max : UInt64(chunk.process) << 32 | UInt64(chunk.thread)
            if byThread[thread] == nil { order.append(thread) }
            byThread[thread, default: []].append(chunk)
        }
        let total = max(log.chunks.reduce(0) { $0 + $1.size }, 1)
        var done = 0
        for thread in order {
            let chunks = byThread[thread]!
            var stretch = MappedFile.ReadStretch()
            for part in FrameEncoder.frames(chunks, size: \.payload.count) {
                let error = writer.append(part.map { ($0.packed, $0.payload.baseAddress!) })
                if error != 0 { return error }
                for index in part.indices {
                    file.release(chunks[index].payload, of: &stretch, isLast: index == chunks.count - 1)
                }
                done += part.reduce(0) { $0 + $1.size }
                progress(Double(done) / Double(total))
            }
        }
        return 0
    }
}

extension Chunk {
    /// The chunk as a frame has it.
    fileprivate var packed: fathom_packed_chunk {
        fathom_packed_chunk(
            header.loadUnaligned(as: fathom_chunk.self), held: payload.count, at: offset,
            isIntact: !isTruncated && payloadIsIntact)
    }
}

extension SessionFile {
    /// The files that a packed session holds besides the log. The index and the sums can be made again, and the others are of
    /// processes that run.
    static let packed: [SessionFile] = [
        .description, .names, .sources, .startup, .buffers, .switches, .wakings, .faults,
    ]
}
