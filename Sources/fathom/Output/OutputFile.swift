internal import ArgumentParser
internal import Glibc
internal import TraceReports
internal import TraceText

/// The file, or standard output, that `-o` names.
struct OutputFile {
    let writer: ByteWriter
    private let path: String
    private let problem: Problem

    private final class Problem {
        var code: Int32 = 0
    }

    /// Creates or replaces the file; `-` is standard output.
    ///
    /// - Throws: exit status 2, the reason said, when that cannot be done.
    init(_ path: String) throws {
        self.path = path
        let problem = Problem()
        self.problem = problem
        guard path != "-" else {
            writer = StandardOutput.writer()
            return
        }
        try FileName.check(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw OutputFile.fail(path, errno) }
        writer = ByteWriter { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let written = write(descriptor, start, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else {
                    problem.code = errno
                    return false
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
            return true
        }
    }

    /// Writes out what is left.
    ///
    /// - Throws: exit status 2, the reason said, when not everything could be written.
    func finish() throws {
        guard path != "-" else { return try StandardOutput.finish(writer) }
        writer.flush()
        guard problem.code == 0 else { throw OutputFile.fail(path, problem.code) }
    }

    private static func fail(_ path: String, _ code: Int32) -> ExitCode {
        Diagnostics.fail("\(path): \(String(cString: strerror(code)))", .failed)
    }
}
