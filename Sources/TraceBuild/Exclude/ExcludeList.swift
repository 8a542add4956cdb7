/// A file that lists what to leave out, one a line: a function, a namespace or class (`app::detail::*`), or the functions
/// of a file (`file: string_piece.h`). What follows a `#` at the line's beginning or behind white space is a comment.
public struct ExcludeList: Sendable, Equatable {
    /// Globs for ``BuildOptions/excludedFunctions``.
    public private(set) var functions: [String] = []
    /// Globs for ``BuildOptions/excludedFiles``.
    public private(set) var files: [String] = []

    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    public init(path: String) throws(BuildError) {
        for text in try TextFile.read(path).split(whereSeparator: \.isNewline) {
            guard let line = Self.name(in: String(text)) else { continue }
            if let file = Self.file(in: line) { files.append(file) } else { functions.append(line) }
        }
    }

    /// The part of a line that is no comment; nil when that is empty. C++ names hold blanks, so only what stands behind
    /// ` #` is cut off.
    static func name(in line: String) -> String? {
        var text = line.prefix { !$0.isNewline }
        if text.drop(while: \.isWhitespace).first == "#" { return nil }
        if let comment = text.firstRange(of: " #") { text = text[..<comment.lowerBound] }
        while text.last?.isWhitespace == true { text.removeLast() }
        text = text.drop(while: \.isWhitespace)
        return text.isEmpty ? nil : String(text)
    }

    /// The glob of a line that names files.
    static func file(in line: String) -> String? {
        guard line.hasPrefix(fileWord) else { return nil }
        let glob = line.dropFirst(fileWord.count).drop(while: \.isWhitespace)
        return glob.isEmpty ? nil : String(glob)
    }

    /// Begins a line that names files: no function's name has a blank behind a single colon.
    private static let fileWord = "file: "

    /// The line for the files that a glob matches; nil where it could not be read back.
    static func line(ofFiles glob: String) -> String? {
        let line = fileWord + glob
        return name(in: line) == line && !glob.contains("\n") && file(in: line) == glob ? line : nil
    }
}
