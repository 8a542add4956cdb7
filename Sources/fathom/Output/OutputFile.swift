internal import ArgumentParser
internal import Glibc
internal import TraceExport
internal import TraceFile
internal import TraceText

/// The file, or standard output, that `-o` names. A file is there only once ``finish()`` returns, and until then the old one
/// is, if there was one.
struct OutputFile {
    let writer: ByteWriter
    private let path: String
    private let file: NewFile?
    private let raw: ByteWriter
    private let compressor: (any Compressor)?

    /// Begins the file that is to be at `path`; `-` is standard output.
    ///
    /// - Throws: exit status 2, the reason said, when that cannot be done.
    init(_ path: String, compression: Compression = .none) throws {
        self.path = path
        guard path != "-" else {
            (file, compressor, raw) = (nil, nil, StandardOutput.writer())
            writer = raw
            return
        }
        try FileName.check(path)
        if Session.owns(path) {
            throw Diagnostics.fail("\(path) is part of a recording; write to another file", .wrongUsage)
        }
        do throws(NewFile.Failure) {
            let file = try NewFile(replacing: path)
            self.file = file
            raw = ByteWriter { file.write($0) }
        } catch {
            throw OutputFile.fail(path, error.code)
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
        do throws(NewFile.Failure) {
            try file.commit()
        } catch {
            throw OutputFile.fail(path, error.code)
        }
    }

    private static func fail(_ path: String, _ code: Int32) -> ExitCode {
        Diagnostics.fail("\(path): \(String(cString: strerror(code)))", .failed)
    }
}
