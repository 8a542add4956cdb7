internal import Glibc

/// Shell globs, by fnmatch(3).
enum Glob {
    static func matches(_ glob: String, _ text: String) -> Bool { fnmatch(glob, text, 0) == 0 }

    /// `path` as a whole, or its last components: `vendor/*.c` matches `/src/vendor/a.c`.
    static func matches(_ glob: String, path: String) -> Bool {
        if matches(glob, path) { return true }
        return path.indices.contains { path[$0] == "/" && matches(glob, String(path[path.index(after: $0)...])) }
    }
}
