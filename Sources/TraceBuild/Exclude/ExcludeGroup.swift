/// Lines of an exclude list that leave out many functions at once.
public enum ExcludeGroup {
    /// Lines for the namespaces and classes around a function, outermost first, and for the file it is defined in.
    ///
    /// - Parameters:
    ///   - name: as Fathom shows it.
    ///   - file: a path, or nil.
    public static func lines(of name: String, in file: String?) -> [String] {
        var lines: [String] = []
        // From template arguments or an unnamed part on, gcc writes names in its own way.
        let plain = name.prefix { !"<({".contains($0) }
        for scope in plain.ranges(of: "::") {
            let line = plain[..<scope.upperBound] + "*"
            // Only people use names such as `std::string`; compilers have others.
            if plain.hasPrefix("std::"), !lines.isEmpty { break }
            if line.count > 3, ExcludeList.name(in: String(line)) == String(line) { lines.append(String(line)) }
        }
        if let file, let line = ExcludeList.line(ofFiles: lastComponent(file)), !line.contains("*") {
            lines.append(line)
        }
        return lines
    }

    /// The line for all system headers of the same kind as a file; nil when that is no system header. clang writes its
    /// library's paths as it finds them, with `..` in them; lines have none, as the build sees none.
    public static func systemHeaders(with file: String) -> String? {
        let file = absolutePath(file, in: "/")
        for directory in ["/usr/include/", "/usr/local/include/"] where file.hasPrefix(directory) {
            return ExcludeList.line(ofFiles: directory + "*")
        }
        // These are headers of a compiler that is installed elsewhere: its C++ library's, and its own.
        for part in [libraryHeaders, "/lib/gcc/", "/lib/clang/"] {
            guard let range = file.firstRange(of: part), file[range.lowerBound...].contains("/include") else {
                continue
            }
            return ExcludeList.line(ofFiles: file[..<range.upperBound] + "*")
        }
        return nil
    }

    /// The file that a function without one is taken to be defined in; nil when nothing is known of it.
    ///
    /// Functions that the C++ library exports are inlined from its headers all the same, and their hooks then tell the
    /// address in the library, which has no debug information. Only the name says that a header defines them.
    ///
    /// - Parameters:
    ///   - name: as Fathom shows it.
    ///   - files: those of the other functions. They tell where the library's headers are.
    /// - Complexity: O(number of files).
    public static func presumedFile(of name: String, among files: some Sequence<String>) -> String? {
        guard name.hasPrefix("std::") || name.hasPrefix("__gnu_cxx::") else { return nil }
        return files.filter { $0.contains(libraryHeaders) }.min() ?? "/usr\(libraryHeaders)"
    }

    private static let libraryHeaders = "/include/c++/"

    /// Whether a compiler leaves out a function for a line that ``lines(of:in:)`` or ``systemHeaders(with:)`` made: clang
    /// by the whole path or name, gcc by a part of it.
    public static func leavesOut(_ line: String, _ name: String, in file: String?) -> Bool {
        guard let glob = ExcludeList.file(in: line) else { return ExcludePattern.leavesOut(line, name) }
        guard let file = file.map({ absolutePath($0, in: "/") }) else { return false }
        return Glob.matches(glob, path: file) || file.contains(ExcludePattern.gccText(glob))
    }
}
