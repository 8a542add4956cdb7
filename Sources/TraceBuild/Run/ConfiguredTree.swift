internal import Glibc
internal import TraceText

/// A build tree that was configured without Fathom. What configured it wrote down compilers by their full paths, so a build
/// of it goes past Fathom.
struct ConfiguredTree: Equatable {
    /// As the user may name it.
    let directory: String
    /// The command that configures it anew, as a shell takes it.
    let remedy: String

    /// - Parameters:
    ///   - place: the tree's absolute path.
    ///   - name: how the user may name it.
    /// - Returns: Nil where nothing was configured, or it was with Fathom, or compilers are called by their names.
    init?(at place: String, named name: String) {
        let (cmake, autoconf) = ("\(place)/CMakeCache.txt", "\(place)/config.status")
        let words: [String]
        if let text = try? TextFile.read(cmake) {
            let values = Self.values(text, behind: ["CMAKE_C_COMPILER:", "CMAKE_CXX_COMPILER:"])
            guard values.contains(where: Self.goesPast) else { return nil }
            let source = Self.values(text, behind: ["CMAKE_HOME_DIRECTORY:"]).first ?? "."
            let shown = PathText.relative(source, to: currentDirectory())
            words = ["cmake", "--fresh", "-S", source == currentDirectory() ? "." : shown, "-B", name]
        } else if access("\(place)/meson-private", F_OK) == 0, let text = try? TextFile.read("\(place)/build.ninja") {
            let commands = Self.values(text, behind: [" command = "]).map { $0.drop { $0 == " " }.prefix { $0 != " " } }
            guard commands.contains(where: { Self.goesPast(String($0)) }) else { return nil }
            words = ["meson", "setup", "--wipe", name]
        } else if let text = try? TextFile.read(autoconf) {
            // S["CC"]="/usr/bin/gcc -std=gnu11"
            let values = Self.values(text, behind: ["S[\"CC\"]=", "S[\"CXX\"]="]).map { value in
                value.dropFirst().prefix { $0 != "\"" && $0 != " " }
            }
            guard values.contains(where: { Self.goesPast(String($0)) }) else { return nil }
            words = ["./configure"]
        } else {
            return nil
        }
        directory = name
        remedy = "fathom build -- \(CommandText.line(words))"
    }

    /// The innermost tree that holds a file.
    ///
    /// - Parameters:
    ///   - path: of the file, relative to `top`.
    ///   - top: absolute; what is above is not looked at.
    static func holding(_ path: String, in top: String) -> ConfiguredTree? {
        var parts = path.split(separator: "/")
        while parts.popLast() != nil {
            let directory = parts.joined(separator: "/")
            if let tree = ConfiguredTree(
                at: directory.isEmpty ? top : "\(top)/\(directory)", named: directory.isEmpty ? "." : directory)
            {
                return tree
            }
        }
        return nil
    }

    /// The tree that a command builds: what it names as `-C`, `-B` or `--build`, or where it runs.
    static func built(by command: [String], in top: String) -> ConfiguredTree? {
        for (word, value) in zip(command, command.dropFirst()) where ["-C", "-B", "--build"].contains(word) {
            if let tree = ConfiguredTree(at: absolutePath(value, in: top), named: value) { return tree }
        }
        return ConfiguredTree(at: top, named: ".")
    }

    /// What stands behind `=` in the lines that begin with one of `names`.
    private static func values(_ text: String, behind names: [String]) -> [String] {
        text.split(separator: "\n").filter { line in names.contains { line.hasPrefix($0) } }.compactMap { line in
            line.firstIndex(of: "=").map { String(line[line.index(after: $0)...]) }
        }
    }

    /// Whether a build that calls the compiler so goes past Fathom.
    private static func goesPast(_ compiler: String) -> Bool {
        compiler.hasPrefix("/") && CompilerName.isCompiler(lastComponent(compiler))
            && !StandIns.isDirectory(String(directoryPart(compiler).dropLast()))
    }
}
