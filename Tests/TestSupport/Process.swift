public import Glibc

/// How a process ended and what it wrote.
public struct ProcessOutput: Sendable {
    /// Exit status; -1 when a signal ended it.
    public var status: Int32
    /// The signal that ended it, if one did.
    public var signal: Int32?
    public var stdout: String
    public var stderr: String
}

/// Runs a program to its end and captures its output.
///
/// Standard input, output and error are files, not pipes: nothing blocks, and a background process the program
/// leaves behind does not keep the caller waiting.
///
/// - Parameters:
///   - path: looked for in PATH when it holds no slash.
///   - environment: the whole environment; nil passes this process's own on.
///   - input: what standard input holds.
///   - workingDirectory: nil for this process's own.
///   - seconds: after these the program is killed.
/// - Throws: ``TestSupportError`` when the program could not be started, or did not end in time.
@discardableResult
public func run(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String = "",
    workingDirectory: String? = nil, seconds: Double = 300
) throws(TestSupportError) -> ProcessOutput {
    let directory = try TemporaryDirectory("run")
    var streams: [Int32] = []
    defer { for stream in streams { close(stream) } }
    for name in ["stdin", "stdout", "stderr"] {
        let descriptor = open(directory.file(name), O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .failed("open \(directory.file(name))", errno: errno) }
        streams.append(descriptor)
    }
    try writeAll(Array(input.utf8), to: streams[0], name: "stdin")
    lseek(streams[0], 0, SEEK_SET)

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in streams.enumerated() { posix_spawn_file_actions_adddup2(&actions, stream, Int32(number)) }

    let command = (workingDirectory.map { ["env", "-C", $0] } ?? []) + [path] + arguments
    var argumentPointers = command.map { strdup($0) } + [nil]
    var environmentPointers = environment.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] }
    defer {
        for pointer in argumentPointers + (environmentPointers ?? []) { free(pointer) }
    }
    var pid = pid_t()
    var attributes = unblockedSignals()
    defer { posix_spawnattr_destroy(&attributes) }
    let failure =
        environmentPointers == nil
        ? posix_spawnp(&pid, command[0], &actions, &attributes, &argumentPointers, environ)
        : posix_spawnp(&pid, command[0], &actions, &attributes, &argumentPointers, &environmentPointers!)
    guard failure == 0 else { throw .failed("run \(path)", errno: failure) }

    let status = try wait(for: pid, named: path, seconds: seconds)
    let signal = status & 0x7f
    var output = ProcessOutput(
        status: signal == 0 ? status >> 8 & 0xff : -1, signal: signal == 0 ? nil : signal, stdout: "", stderr: "")
    for stream in streams { lseek(stream, 0, SEEK_SET) }
    output.stdout = String(decoding: try readAll(streams[1], name: "stdout"), as: UTF8.self)
    output.stderr = String(decoding: try readAll(streams[2], name: "stderr"), as: UTF8.self)
    return output
}

/// Attributes for `posix_spawn` that start a program with no signal blocked or ignored, because a child inherits both: the threads
/// that run tests block all signals, and who runs the tests in the background ignores some.
public func unblockedSignals() -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_setsigmask(&attributes, &mask)
    sigfillset(&mask)
    posix_spawnattr_setsigdefault(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return attributes
}

/// Waits for a child, looking ever more rarely, and kills it when its time is over.
private func wait(for pid: pid_t, named name: String, seconds: Double) throws(TestSupportError) -> Int32 {
    var status: Int32 = 0
    var waited: UInt32 = 0  // microseconds
    var pause: UInt32 = 200
    while true {
        let found = waitpid(pid, &status, WNOHANG)
        if found == pid { return status }
        guard found == 0 || errno == EINTR else { throw .failed("waitpid \(name)", errno: errno) }
        if Double(waited) > seconds * 1e6 {
            kill(pid, SIGKILL)
            waitpid(pid, &status, 0)
            throw .failed("run \(name)", errno: ETIMEDOUT)
        }
        usleep(pause)
        waited += pause
        pause = min(pause * 5 / 4, 10_000)
    }
}
