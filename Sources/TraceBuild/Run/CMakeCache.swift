internal import Glibc
internal import TraceText

/// What CMake keeps of a tree that it has configured: `CMakeCache.txt`, a line `NAME:TYPE=VALUE` each.
struct CMakeCache {
    private struct Entry {
        var name: String
        var type: String
        var value: String
    }

    private var entries: [Entry] = []
    private var values: [String: String] = [:]

    /// - Returns: Nil where CMake has configured nothing.
    init?(in place: String) {
        guard let text = try? TextFile.read("\(place)/CMakeCache.txt") else { return nil }
        for line in text.split(separator: "\n") {
            guard !line.hasPrefix("#"), !line.hasPrefix("//"), let equals = line.firstIndex(of: "="),
                let colon = line[..<equals].lastIndex(of: ":")
            else { continue }
            let type = line[line.index(after: colon)..<equals], value = line[line.index(after: equals)...]
            entries.append(Entry(name: String(line[..<colon]), type: String(type), value: String(value)))
        }
        values = Dictionary(entries.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The languages whose compilers CMake calls through a launcher, as far as they get hooks.
    private static let languages = ["C", "CXX", "OBJC", "OBJCXX"]

    private func compiler(_ language: String) -> String? { values["CMAKE_\(language)_COMPILER"] }

    /// What a build calls where it compiles: the launcher of a language that has one, else its compiler.
    var calledCompilers: [String] {
        (Self.languages + ["Swift"]).compactMap { language in
            guard let compiler = compiler(language) else { return nil }
            return fathom(language) ?? compiler
        }
    }

    /// What Fathom is called where it is a launcher.
    static let launcherName = "fathom"

    private func launcher(_ language: String) -> [String] {
        (values["CMAKE_\(language)_COMPILER_LAUNCHER"] ?? "").split(separator: ";").map(String.init)
    }

    /// Fathom as a language's launcher, which gives the compiler behind it hooks.
    private func fathom(_ language: String) -> String? {
        let words = launcher(language)
        return zip(words, words.dropFirst()).first { lastComponent($0.0) == Self.launcherName && $0.1 == "cc" }?.0
    }

    /// A language's launcher with Fathom. Behind it may be what it knows to stand before compilers; whatever else there is runs
    /// Fathom as it runs the compiler.
    private func launcher(_ language: String, with program: String) -> String {
        var others = launcher(language)
        if let known = fathom(language), let index = others.firstIndex(of: known) {
            others.removeSubrange(index...(index + 1))
        }
        let isKnown = others.first.map { CompilerName.launchers.contains(lastComponent($0)) } ?? false
        return (isKnown ? [program, "cc"] + others : others + [program, "cc"]).joined(separator: ";")
    }

    /// Has CMake call compilers through Fathom as it calls them through a launcher: the tree keeps all that is in its cache. A
    /// compiler of Swift has no launcher, and one that is not there any more does not go on being CMake's: a tree with such is
    /// configured from the beginning, with what the user may have set.
    func reconfigure(_ place: String, program: String) -> [[String]] {
        let source = values["CMAKE_HOME_DIRECTORY"] ?? "."
        let isLost = Self.languages.contains { language in compiler(language).map { access($0, X_OK) != 0 } ?? false }
        if isLost || compiler("Swift") != nil { return [["cmake", "--fresh", "-S", source, "-B", place] + given] }
        let launchers = Self.languages.filter { compiler($0) != nil }.flatMap { language in
            return [
                "-DCMAKE_\(language)_COMPILER_LAUNCHER=\(launcher(language, with: program))",
                "-DCMAKE_\(language)_LINKER_LAUNCHER=\(program);cc",
            ]
        }
        // Makefiles do not compile anew what only another launcher would make other.
        return [["cmake", "-S", source, "-B", place] + launchers, ["cmake", "--build", place, "--target", "clean"]]
    }

    /// The generator, and all variables that a user can set, but for compilers and what was not found.
    private var given: [String] {
        (values["CMAKE_GENERATOR"].map { ["-G", $0] } ?? [])
            + entries.filter { entry in
                !["INTERNAL", "STATIC"].contains(entry.type) && !entry.value.isEmpty
                    && !entry.value.hasSuffix("-NOTFOUND")
                    && !(entry.name.hasPrefix("CMAKE_") && entry.name.contains("_COMPILER"))
            }.map { "-D\($0.name):\($0.type)=\($0.value)" }
    }
}
