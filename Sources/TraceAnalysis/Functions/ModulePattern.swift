/// A pattern of modules: a program or a library, by its path or by the name of its file. Without the marks of a glob, what stands
/// behind a dot in the file's name may be left out: `libz` and `libz.so` match `libz.so.1.3`.
final class ModulePattern {
    private let pattern: Pattern
    /// The beginning of a file's name.
    private let start: [UInt8]?

    init(_ text: String) throws(Pattern.InvalidPattern) {
        pattern = try Pattern(unqualified: text)
        let bytes = Array(text.utf8)
        start = Glob.hasMarks(bytes) || bytes.contains(UInt8(ascii: "/")) ? nil : bytes + [UInt8(ascii: ".")]
    }

    func matches(_ path: String) -> Bool {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return pattern.matches(path) || pattern.matches(String(name))
            || start.map { name.utf8.starts(with: $0) } == true
    }
}
