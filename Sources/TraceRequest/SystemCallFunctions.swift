internal import TraceFile
internal import TraceSymbols

/// The functions of the C library that do little more than a system call, as far as it is known what they take.
public enum SystemCallFunctions {
    /// Their names, as the options that name functions take them.
    public static let pattern: String = {
        let others: Set = ["send", "recv", "wait", "waitpid", "fstatat", "sigaction", "sigprocmask", "_exit", "isatty"]
        let names = LibraryPrototype.names.filter { name in
            others.contains(name) || SystemCalls.names.contains(name.hasSuffix("64") ? String(name.dropLast(2)) : name)
                || SystemCalls.names.contains(name) || name == "fstatat64"
        }
        return "/^(\(names.sorted().joined(separator: "|")))$/"
    }()
}
