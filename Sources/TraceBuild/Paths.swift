internal import Glibc
internal import TraceText

/// `path` as seen from `directory`, without `.`, `..` and doubled slashes. Symbolic links are left as they are.
func absolutePath(_ path: String, in directory: String) -> String {
    var parts: [Substring] = []
    for part in (path.hasPrefix("/") ? path : "\(directory)/\(path)").split(separator: "/") where part != "." {
        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
}

/// The last component of a path.
func lastComponent(_ path: String) -> String {
    String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
}

func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(rawCString: path)
}

/// Finds the file behind all symbolic links; nil when there is none.
func resolvedPath(_ path: String) -> String? {
    guard let resolved = path.withRawCString({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return String(rawCString: resolved)
}

/// `a.o, b.o and 12 more`
func listed(_ paths: [String]) -> String {
    let shown = paths.prefix(3).joined(separator: ", ")
    return paths.count > 3 ? "\(shown) and \(paths.count - 3) more" : shown
}

/// The part of a path up to the last slash, with that; empty when there is none.
func directoryPart(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
}

func environmentVariable(_ name: String) -> String? { getenv(name).map { String(rawCString: $0) } }
