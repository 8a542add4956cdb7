internal import Glibc

/// A program that runs while this one waits for its end.
enum ChildProgram {
    /// What kept it from being started or waited for.
    struct Failure: Error {
        /// Nil: it could not be started.
        let call: String?
        /// errno.
        let code: Int32
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its status, as waitpid(2) has it.
    static func run(
        _ path: String, _ words: [String], _ actions: UnsafePointer<posix_spawn_file_actions_t>? = nil,
        _ attributes: UnsafePointer<posix_spawnattr_t>? = nil
    ) throws(Failure) -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let failure = posix_spawn(&process, path, actions, attributes, &arguments, environ)
        guard failure == 0 else { throw Failure(call: nil, code: failure) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            if errno != EINTR { throw Failure(call: "waitpid", code: errno) }
        }
        return status
    }
}
