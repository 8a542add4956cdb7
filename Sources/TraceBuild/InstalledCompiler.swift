internal import Glibc

/// A compiler that is found by its usual name, and whether it can give functions hooks.
public struct InstalledCompiler: Sendable {
    public let name: String
    public let path: String
    /// Whether it takes the option that gives functions hooks, or has the hooks that Fathom uses for Swift.
    public let hasHooks: Bool

    public init(name: String, path: String, hasHooks: Bool) {
        self.name = name
        self.path = path
        self.hasHooks = hasHooks
    }

    /// Finds gcc, g++, clang, clang++ and swiftc in PATH, as far as they are there. Runs each of them once.
    public static func all() -> [InstalledCompiler] {
        ["gcc", "g++", "clang", "clang++", "swiftc"].compactMap { name in
            guard let path = Compiler.find(name) else { return nil }
            return InstalledCompiler(name: name, path: path, hasHooks: takesHooks(path))
        }
    }

    private static func takesHooks(_ path: String) -> Bool {
        // All Swift compilers have the hooks, but not all that are called so can run.
        if CompilerName.isSwift(lastComponent(path)) {
            return (try? Subprocess.output([path, "--version"]))?.contains("Swift version") ?? false
        }
        let language = lastComponent(path).hasSuffix("++") ? "c++" : "c"
        let check = [path, HookFlags.everyFunction, "-fsyntax-only", "-x", language, "/dev/null"]
        return (try? Subprocess.output(check, of: STDERR_FILENO))?.isEmpty ?? false
    }
}
