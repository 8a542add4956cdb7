/// Paths as a person in some directory names them.
public enum PathText {
    /// `path` without `.`, `..` and doubled slashes, and relative to `directory` if it lies below. Symbolic links are not
    /// followed.
    ///
    /// - Parameter directory: absolute, and free of all these.
    public static func relative(_ path: String, to directory: String) -> String {
        var parts: [Substring] = []
        let isAbsolute = path.hasPrefix("/")
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else if part != ".." || !isAbsolute {
                parts.append(part)
            }
        }
        let plain = (isAbsolute ? "/" : "") + parts.joined(separator: "/")
        let base = directory.hasSuffix("/") ? directory : directory + "/"
        return plain.hasPrefix(base) && plain != base ? String(plain.dropFirst(base.count)) : plain
    }

    /// The path's last component.
    public static func name(_ path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }
}
