internal import Glibc

/// A real compiler.
public struct Compiler: Sendable, Equatable {
    public enum Family: Sendable { case gcc, clang }

    /// The path that is called.
    public var path: String
    /// The launcher that it is called through, with the launcher's own options: `["/usr/bin/ccache"]`.
    public var launcher: [String] = []
    public var family: Family

    /// Whether it takes every source for C++.
    var isCXX: Bool {
        [path, resolvedPath(path) ?? path].contains {
            CompilerName.base(of: lastComponent($0))?.hasSuffix("++") == true
        }
    }

    /// Whether it makes code for the machine that this process runs on, with the GNU C library, as the parts of Fathom
    /// are.
    ///
    /// - Parameter arguments: what it is called with.
    func isForThisMachine(_ arguments: [String]) -> Bool {
        if arguments.contains(where: { ["-m32", "-mx32"].contains($0) }) { return false }
        var target: [String] = []
        for (index, argument) in arguments.enumerated() {
            if argument.hasPrefix("--target=") { target = [argument] }
            if argument == "-target", index + 1 < arguments.count { target = [argument, arguments[index + 1]] }
        }
        let machine = (try? Subprocess.output([path] + target + ["-dumpmachine"])) ?? ""
        return machine.hasPrefix(Self.architecture) && machine.contains("linux")
            && !["musl", "android", "gnux32"].contains { machine.contains($0) }
    }

    #if arch(arm64)
        private static let architecture = "aarch64-"
    #else
        private static let architecture = "x86_64-"
    #endif

    /// Finds the compiler or launcher called `name`: in PATH behind Fathom's own stand-ins, unless it holds a slash.
    ///
    /// - Returns: Nil when there is none.
    static func find(_ name: String) -> String? {
        let own = resolvedPath("/proc/self/exe")
        let isReal = { (path: String) in
            access(path, X_OK) == 0 && resolvedPath(path) != own
                && !StandIns.isDirectory(String(path.dropLast(lastComponent(path).count)))
        }
        if name.contains("/") { return isReal(name) ? name : find(lastComponent(name)) }
        let path = environmentVariable("PATH") ?? "/usr/bin:/bin"
        return path.split(separator: ":").lazy.map { "\($0)/\(name)" }.first(where: isReal)
    }

    /// Whether it takes gcc's options or clang's. The name of the file behind all links tells, or else the program
    /// itself.
    static func family(of path: String) -> Family {
        for candidate in [path, resolvedPath(path) ?? path] {
            switch CompilerName.base(of: lastComponent(candidate)) {
            case "gcc", "g++": return .gcc
            case "clang", "clang++": return .clang
            default: break
            }
        }
        let version = (try? Subprocess.output([path, "--version"])) ?? ""
        return version.contains("clang") ? .clang : .gcc
    }
}
