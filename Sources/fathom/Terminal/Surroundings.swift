internal import Glibc
internal import TraceFile
internal import TraceReports
internal import TraceScreen
internal import TraceText

/// What a ``TraceScreen`` asks of the machine.
enum Surroundings {
    /// - Parameters:
    ///   - path: of the session, which is opened anew each time that its info is asked for, because it may grow.
    ///   - sources: the source files that the session holds; others are looked for where they were.
    ///   - isLive: whether its program runs.
    static func of(_ path: String, sources: SourceArchive? = nil, isLive: Bool = false) -> ScreenSurroundings {
        let directory = workingDirectory
        return ScreenSurroundings(
            info: {
                var text = ""
                let writer = ByteWriter { bytes in
                    text += String(decoding: bytes, as: UTF8.self)
                    return true
                }
                do throws(TraceFileError) {
                    let session = try Session(path: path)
                    InfoReport(writer, session: session, showsModules: true, checksPayloads: false).write(.text)
                } catch {
                    return [error.description.visible]
                }
                writer.flush()
                return text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).visible }
            },
            source: { file, line in
                sources?.files[file].flatMap { lines(in: $0, around: line) } ?? lines(of: file, around: line)
            },
            path: { path in directory.map { PathText.relative(path, to: $0) } ?? path },
            openCalls: isLive ? OpenCallsText(path).lines : nil)
    }

    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(validatingCString: path)
    }

    /// Lines in front of the one that is asked for, and behind it.
    private static let before = 10, after = 40

    /// The lines of a source file around a line; nil when the file cannot be read, or is not so long.
    private static func lines(of file: String, around line: Int) -> (first: Int, lines: [String])? {
        // A pipe by that name would make us wait.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let stream = fdopen(descriptor, "r")
        else {
            close(descriptor)
            return nil
        }
        defer { fclose(stream) }
        return lines(in: stream, around: line)
    }

    private static func lines(in text: [UInt8], around line: Int) -> (first: Int, lines: [String])? {
        var text = text
        return text.withUnsafeMutableBytes { bytes in
            guard let stream = fmemopen(bytes.baseAddress, bytes.count, "r") else { return nil }
            defer { fclose(stream) }
            return lines(in: stream, around: line)
        }
    }

    private static func lines(
        in stream: UnsafeMutablePointer<FILE>, around line: Int
    ) -> (first: Int, lines: [String])? {
        var text: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(text) }
        let first = max(line - before, 1)
        var lines: [String] = []
        var number = 1
        while number <= line + after {
            let size = getline(&text, &capacity, stream)
            guard size > 0, let text else { break }
            if number >= first {
                var bytes = UnsafeRawBufferPointer(start: text, count: size)[...]
                if bytes.last == UInt8(ascii: "\n") { bytes = bytes.dropLast() }
                let expanded = String(decoding: bytes, as: UTF8.self).replacing("\t", with: "    ")
                lines.append(expanded.visible)
            }
            number += 1
        }
        return number > line ? (first, lines) : nil
    }
}
