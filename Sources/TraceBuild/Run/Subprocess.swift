internal import Glibc
internal import TraceSystem
internal import TraceText

/// Running other programs.
enum Subprocess {
    /// Becomes the program. Returns only when that fails.
    static func become(_ command: [String]) -> BuildError {
        withUnsafePointers(command) { arguments in
            command[0].withRawCString { _ = execv($0, arguments) }
        }
        return .cannotRun(command[0], errno: errno)
    }

    /// Runs a program with our standard streams to its end.
    ///
    /// - Parameter signals: signals that we ignore and the program is not to.
    /// - Returns: Its exit status; 128 and the signal's number when a signal ended it.
    static func run(_ command: [String], restoring signals: [Int32] = []) throws(BuildError) -> Int32 {
        try wait(for: spawn(command, output: nil, restoring: signals))
    }

    /// Runs a program to its end; returns what it wrote to standard output, or another stream, whole.
    static func output(_ command: [String], of stream: Int32 = STDOUT_FILENO) throws(BuildError) -> String {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .cannotRun(command[0], errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let pid: pid_t
        do throws(BuildError) {
            defer { close(ends[1]) }
            pid = try spawn(command, output: (ends[1], stream))
        } catch {
            close(ends[0])
            throw error
        }
        defer { close(ends[0]) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        _ = wait(for: pid)
        return String(raw: bytes)
    }

    /// - Parameter output: a descriptor, and the standard stream of the program that it becomes.
    private static func spawn(
        _ command: [String], output: (descriptor: Int32, stream: Int32)?, restoring signals: [Int32] = []
    ) throws(BuildError) -> pid_t {
        var program = ChildProgram(restoring: signals)
        if let output { program.streams[Int(output.stream)] = .descriptor(output.descriptor) }
        do throws(SystemError) { return try program.start(command[0], command, isSearched: true) } catch {
            throw .cannotRun(command[0], errno: error.errno)
        }
    }

    private static func wait(for pid: pid_t) -> Int32 {
        let status = (try? ChildProgram.wait(for: pid)) ?? 0
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    private static func withUnsafePointers<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let pointers = strings.map { $0.withRawCString { strdup($0) } } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
