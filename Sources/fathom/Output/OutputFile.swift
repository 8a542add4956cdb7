internal import TraceExport
internal import TraceFile
internal import TraceSystem
internal import TraceText

/// The file, or standard output, that `-o` names. A file is there only once ``finish()`` returns, and until then the old one
/// is, if there was one.
struct OutputFile {
    let writer: ByteWriter
    private let file: NewFile?
    private let raw: ByteWriter
    private let compressor: (any Compressor)?

    /// Begins the file that is to be at `path`; `-` is standard output.
    ///
    /// - Throws: exit status 2, the reason said, when that cannot be done.
    init(_ path: String, compression: Compression = .none) throws {
        guard path != "-" else {
            (file, compressor, raw) = (nil, nil, StandardOutput.writer())
            writer = raw
            return
        }
        try FileName.check(path)
        if Session.owns(path) {
            throw Diagnostics.fail("\(path) is part of a recording; write to another file", .wrongUsage)
        }
        do throws(SystemError) {
            let file = try NewFile(replacing: path)
            self.file = file
            raw = ByteWriter { file.write($0) }
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        compressor = compression.compressor(onto: raw)
        writer = compressor?.writer ?? raw
    }

    /// Writes out what is left, and puts the file in its place.
    ///
    /// - Throws: exit status 2, the reason said, when not everything could be written.
    func finish() throws {
        compressor?.finish()
        guard let file else { return try StandardOutput.finish(raw) }
        raw.flush()
        do throws(SystemError) {
            try file.commit()
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
    }
}
