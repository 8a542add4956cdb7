internal import CTraceFormat
internal import Glibc
internal import TraceSystem

extension Session {
    /// Whether the session, or its log, is packed.
    public var isPacked: Bool { if case .packed? = log { true } else { place.isPacked } }

    /// Writes the session as a directory whose log is plain: each byte of it as it was before it was packed.
    ///
    /// What is damaged is left out, and reported.
    ///
    /// - Parameters:
    ///   - name: of the directory. A session there is set aside.
    ///   - progress: is told how far it is, 0...1.
    /// - Throws: ``SessionFileError``.
    /// - Complexity: O(bytes of the plain session).
    public func unpack(to name: String, progress: (Double) -> Void) throws(SessionFileError) {
        let directory = try SessionDirectory(creating: name)
        defer { directory.close() }
        do throws(SessionFileError) {
            for file in SessionFile.packed {
                if let content = place.file(file).0 { try Self.write(content, as: file, in: directory) }
            }
            if case .packed(let packed)? = log {
                let file = try directory.create(SessionFile.trace.name, O_WRONLY)
                defer { close(file) }
                let error = packed.unpack(to: file, damage, progress)
                guard error == 0 else {
                    throw .cannotCreate(path: directory.file(SessionFile.trace.name), errno: error)
                }
                packed.writeIndex(in: directory)
            }
        } catch {
            directory.discard()
            throw error
        }
    }

    /// Writes a file with the holes that it has.
    private static func write(
        _ content: PlainFile, as file: SessionFile, in directory: SessionDirectory
    ) throws(SessionFileError) {
        let descriptor = try directory.create(file.name, O_WRONLY)
        defer { close(descriptor) }
        var error: Int32 = ftruncate(descriptor, off_t(content.size)) == 0 ? 0 : errno
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 8)
        defer { buffer.deallocate() }
        var place = content.nextData(from: 0)
        while error == 0, let data = place {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(data.count, buffer.count)])
            error =
                content.read(piece, at: data.lowerBound)
                ? writeAll(UnsafeRawBufferPointer(piece), to: descriptor, at: data.lowerBound) : EIO
            place = content.nextData(from: data.lowerBound + piece.count)
        }
        if error != 0 { throw .cannotCreate(path: directory.file(file.name), errno: error) }
    }
}

extension PackedLog {
    /// Writes the plain log.
    ///
    /// - Returns: 0, or the errno that says why it is not all written.
    fileprivate func unpack(to file: Int32, _ damage: DamageLog, _ progress: (Double) -> Void) -> Int32 {
        var error = packed.logHeader.withUnsafeBytes { writeAll($0, to: file, at: 0) }
        let decoder = FrameDecoder(), payloads = GrowingBytes(), written = GrowingBytes()
        var row = 0
        // Where the log ends, if its last chunk is not filled up.
        var end: off_t?
        for entry in packed.entries {
            guard error == 0 else { return error }
            let rows = UnsafeBufferPointer(rebasing: packed.chunks[row..<row + entry.chunkCount])
            row += entry.chunkCount
            switch entry.section.kind {
            case FATHOM_SECTION_GAP:
                if entry.section.raw_size == 0 {
                    end = off_t(clamping: entry.section.place)
                } else if let bytes = decoder.bytes(of: entry, in: packed.file) {
                    error = writeAll(bytes, to: file, at: Int(entry.section.place))
                } else {
                    packed.report(entry)
                }
            case FATHOM_SECTION_FRAME:
                let size = rows.reduce(0) { $0 + $1.room }
                payloads.clear()
                guard UInt64(size) == entry.section.raw_size,
                    decoder.read(entry, of: packed.file, rows, to: payloads.room(size))
                else {
                    packed.report(entry)
                    continue
                }
                payloads.take(size)
                error = write(rows, payloads, written, to: file)
                progress(Double(entry.place) / Double(packed.file.size))
            default: break
            }
        }
        if error == 0, let end, ftruncate(file, end) != 0 { return errno }
        return error
    }

    /// Writes chunks to their places; those that follow each other at once.
    private func write(
        _ rows: UnsafeBufferPointer<fathom_packed_chunk>, _ payloads: GrowingBytes, _ written: GrowingBytes,
        to file: Int32
    ) -> Int32 {
        var start: UInt64 = 0, place = 0
        written.clear()
        for row in rows {
            if written.count > 0, row.place != start + UInt64(written.count) {
                let error = writeAll(written.bytes, to: file, at: Int(start))
                if error != 0 { return error }
                written.clear()
            }
            if written.count == 0 { start = row.place }
            written.append(of: row.header)
            // What the file's end cuts off has nothing behind it.
            let isCut = row.held < row.header.used
            let payload = payloads.bytes[place..<place + (isCut ? Int(row.held) : row.room)]
            written.append(UnsafeRawBufferPointer(rebasing: payload))
            place += row.room
        }
        return writeAll(written.bytes, to: file, at: Int(start))
    }

    /// Writes the index that a plain log of this size has.
    fileprivate func writeIndex(in directory: SessionDirectory) {
        let rows = packed.chunks.sorted { $0.place < $1.place }
        guard let last = rows.last, case let bytes = packed.logHeader,
            bytes.count >= MemoryLayout<fathom_trace_header>.size
        else { return }
        let header = bytes.withUnsafeBytes { $0.loadUnaligned(as: fathom_trace_header.self) }
        let index = LogIndexWriter(in: directory, logSum: header.start_sum)
        index.add(rows.map(\.header)[...], logSize: last.place + TraceLogWriter.size(of: last.header))
    }
}
