internal import Glibc
import TestSupport

/// A process that runs while the test goes on; its output goes nowhere.
final class BackgroundProcess {
    let pid: Int32
    private var status: Int32?

    /// Starts a program.
    init(_ command: [String], environment: [String: String] = [:]) throws(TestSupportError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(0)..<3 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var arguments = command.map { strdup($0) } + [nil]
        var variables = Fathom.inherited(adding: environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in arguments + variables { free(pointer) } }
        var started = pid_t()
        var attributes = unblockedSignals()
        defer { posix_spawnattr_destroy(&attributes) }
        let failure = posix_spawnp(&started, command[0], &actions, &attributes, &arguments, &variables)
        guard failure == 0 else { throw .failed("run \(command[0])", errno: failure) }
        pid = started
    }

    /// A test that fails leaves nothing behind that takes the others' processor: a recorder passes the signal on to its
    /// program, which it could not if it was killed at once.
    deinit {
        guard status == nil else { return }
        kill(pid, SIGTERM)
        if !waitUntil(seconds: 5, { waitpid(pid, nil, WNOHANG) != 0 }) {
            kill(pid, SIGKILL)
            wait()
        }
    }

    /// Sends a signal.
    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for its end, and kills it when that takes five minutes.
    ///
    /// - Returns: the status as `waitpid` gives it.
    @discardableResult
    func wait() -> Int32 {
        if let status { return status }
        var found: Int32 = 0
        if !waitUntil(seconds: 300, { waitpid(pid, &found, WNOHANG) != 0 }) {
            kill(pid, SIGKILL)
            while waitpid(pid, &found, 0) < 0 && errno == EINTR {}
        }
        status = found
        return found
    }
}

/// Waits until `condition` holds, at most `seconds`.
///
/// - Returns: whether it came to hold.
func waitUntil(seconds: Double = 20, _ condition: () -> Bool) -> Bool {
    for _ in 0..<Int(seconds * 1000) {
        if condition() { return true }
        usleep(1000)
    }
    return condition()
}
