/// A pattern of source files of the command line: `parse.c`, `src/net`, `*.h`, `/home/me/prog/*.cpp` or `/regular expression/`.
///
/// It matches a file, or all files below a folder, by the last parts of the file's or the folder's path; a pattern that begins with
/// `/` matches whole paths. `PATTERN@hide` hides functions that are defined there, and other patterns hide those that are not.
public struct PlacePattern {
    private let glob: [UInt8]
    private let expression: Pattern?
    /// Whether functions there are hidden.
    public let hides: Bool
    /// The pattern as it was written.
    public let text: String

    /// Why a text is no pattern of files.
    public struct Invalid: Error, CustomStringConvertible { public let description: String }

    /// - Throws: ``Invalid`` or ``Pattern/InvalidPattern``, each described by a line.
    public init(_ text: String) throws {
        self.text = text
        var path = text[...]
        hides = text.hasSuffix("@hide")
        if hides { path = path.dropLast("@hide".count) }
        let isExpression = path.utf8.count > 2 && path.hasPrefix("/") && path.hasSuffix("/")
        expression = isExpression ? try Pattern(unqualified: String(path)) : nil
        while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
        while path.hasPrefix("./") { path = path.dropFirst(2) }
        if path.isEmpty || path == "." || path == "/" {
            throw Invalid(description: "'\(text)' names no file and no folder, as 'parse.c' or 'src/net' do")
        }
        glob = Array(path.utf8)
    }

    /// The name of the file or folder that was asked for, without the marks of a pattern.
    public var askedName: String {
        let path = String(decoding: glob, as: UTF8.self).filter { !"*?[]".contains($0) }
        return expression == nil ? String(path.split(separator: "/").last ?? "") : ""
    }

    /// Whether a function is one that the pattern is for. Without a file, it is for none.
    ///
    /// - Complexity: O(parts of the path · length of the path · length of the pattern).
    public func matches(_ file: String?) -> Bool {
        guard let file else { return false }
        let path = Self.plain(file)
        if let expression, expression.matches(path) { return true }
        let bytes = Array(path.utf8)
        let slash = UInt8(ascii: "/")
        let below = glob + [slash, UInt8(ascii: "*")]
        var starts = [0]
        if glob[0] != slash { starts += bytes.indices.filter { bytes[$0] == slash }.map { $0 + 1 } }
        return starts.contains { Glob.matches(glob[...], bytes[$0...]) || Glob.matches(below[...], bytes[$0...]) }
    }

    /// A path without parts that lead nowhere.
    private static func plain(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}

extension [PlacePattern] {
    /// Whether a function of this file is hidden: it is where one of them hides, or where none of the others is for.
    public func hides(_ file: String?) -> Bool {
        let asks = contains { !$0.hides }
        return contains { $0.hides && $0.matches(file) } || asks && !contains { !$0.hides && $0.matches(file) }
    }
}
