/// What build systems compile while they configure, to find out what the compiler can do. It is not part of what is built.
enum ConfigureProbe {
    /// Directories in which CMake (before and since 3.25) and Meson compile theirs, and the beginning of those that CMake finds
    /// out the compiler's name in.
    private static let places = [
        "/CMakeFiles/CMakeTmp/", "/CMakeFiles/CMakeScratch/", "/meson-private/", "/CompilerId",
    ]

    /// Whether a compilation is one.
    ///
    /// - Parameters:
    ///   - source: absolute.
    ///   - directory: where the compiler runs.
    ///   - output: absolute path of the directory that the result goes to.
    static func isOne(source: String, in directory: String, output: String) -> Bool {
        // autoconf gives its programs this name, and Meson this one, in a temporary directory of Python's.
        let name = lastComponent(source)
        if name.hasPrefix("conftest.") { return true }
        let parent = lastComponent(String(directoryPart(source).dropLast()))
        if name.hasPrefix("testfile."), parent.hasPrefix("tmp") { return true }
        return [source, directory + "/", output + "/"].contains { path in places.contains { path.contains($0) } }
    }
}
