internal import Glibc
internal import TraceText

/// A build tree that CMake, Meson or autoconf has configured. They write down compilers by their full paths, so a build of a
/// tree that was configured without Fathom goes past it.
struct ConfiguredTree: Equatable {
    /// As the user may name it.
    let directory: String
    /// The compilers that a build of it calls, as they are written down.
    let compilers: [String]
    /// Commands that configure it anew with all that it was configured with, but for the compilers, which are called through
    /// Fathom. What was compiled so far is removed by the second, if there is one.
    let reconfigure: [[String]]

    /// - Parameters:
    ///   - place: the tree's absolute path.
    ///   - name: how the user may name it.
    ///   - program: Fathom's executable.
    /// - Returns: Nil where nothing was configured.
    init?(at place: String, named name: String, program: String) {
        directory = name
        if let cache = CMakeCache(in: place) {
            compilers = cache.calledCompilers
            reconfigure = cache.reconfigure(place, program: program)
        } else if access("\(place)/meson-private", F_OK) == 0, let text = try? TextFile.read("\(place)/build.ninja") {
            compilers = Self.values(text, behind: [" command = "]).map { $0.prefix { $0 != " " } }.map(String.init)
            reconfigure = [["meson", "setup", "--wipe", place]]
        } else if let text = try? TextFile.read("\(place)/config.status") {
            // S["CC"]="/usr/bin/gcc -std=gnu11"
            let names = ["CC", "CXX"].compactMap { variable -> (variable: String, path: String)? in
                let value = Self.values(text, behind: ["S[\"\(variable)\"]="]).first
                return value.map { (variable, String($0.dropFirst().prefix { $0 != "\"" && $0 != " " })) }
            }
            compilers = names.map(\.path)
            let source = Self.values(text, behind: ["S[\"srcdir\"]="]).first.map { $0.split(separator: "\"")[0] } ?? "."
            let named = names.filter { Self.goesPast($0.path) }.map { "\($0.variable)=\(lastComponent($0.path))" }
            // What configure was given stands there as a shell reads it; what comes last holds.
            let script = "cd \"$1\" && eval \"set -- $(./config.status --config)\" && exec \"$0\"/configure \"$@\""
            reconfigure = [
                ["sh", "-c", ([script] + named).joined(separator: " "), String(source), place],
                ["make", "-C", place, "clean"],
            ]
        } else {
            return nil
        }
    }

    /// Whether a build goes past Fathom.
    var goesPast: Bool { compilers.contains(where: Self.goesPast) }

    /// Those of its compilers that are Fathom's stand-ins, or Fathom, but are not there any more.
    var lost: [String] {
        Set(
            compilers.filter { path in
                (StandIns.isDirectory(directoryPart(path)) || lastComponent(path) == CMakeCache.launcherName)
                    && access(path, X_OK) != 0
            }
        ).sorted()
    }

    /// The innermost tree that holds a file.
    ///
    /// - Parameters:
    ///   - path: of the file, relative to `top`.
    ///   - top: absolute; what is above is not looked at.
    static func holding(_ path: String, in top: String, program: String) -> ConfiguredTree? {
        var parts = path.split(separator: "/")
        while parts.popLast() != nil {
            let directory = parts.joined(separator: "/")
            if let tree = ConfiguredTree(
                at: directory.isEmpty ? top : "\(top)/\(directory)", named: directory.isEmpty ? "." : directory,
                program: program)
            {
                return tree
            }
        }
        return nil
    }

    /// The tree that a command builds: what it names as `-C`, `-B` or `--build`, or where it runs.
    static func built(by command: [String], in top: String, program: String) -> ConfiguredTree? {
        let named = BuildTree.place(of: command)
        return named.flatMap { ConfiguredTree(at: absolutePath($0, in: top), named: $0, program: program) }
            ?? ConfiguredTree(at: top, named: ".", program: program)
    }

    /// What stands behind `=` in the lines that begin with one of `names`.
    static func values(_ text: String, behind names: [String]) -> [Substring] {
        text.split(separator: "\n").compactMap { line in
            guard let name = names.first(where: { line.hasPrefix($0) }) else { return nil }
            return name.hasSuffix("=") || name.hasSuffix(" ")
                ? line.dropFirst(name.count) : line.firstIndex(of: "=").map { line[line.index(after: $0)...] }
        }
    }

    /// Whether a build that calls the compiler so goes past Fathom.
    private static func goesPast(_ compiler: String) -> Bool {
        compiler.hasPrefix("/") && CompilerName.isCompiler(lastComponent(compiler))
            && !StandIns.isDirectory(directoryPart(compiler))
    }
}
