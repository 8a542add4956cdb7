/// A file that lists functions to leave out, one a line. What follows a `#` at the line's beginning or behind white space is
/// a comment.
public enum ExcludeList {
    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    public static func read(_ path: String) throws(BuildError) -> [String] {
        try TextFile.read(path).split(whereSeparator: \.isNewline).compactMap { name(in: String($0)) }
    }

    /// C++ names hold blanks, so only what stands behind ` #` is cut off.
    static func name(in line: String) -> String? {
        var text = line.prefix { !$0.isNewline }
        if text.drop(while: \.isWhitespace).first == "#" { return nil }
        if let comment = text.firstRange(of: " #") { text = text[..<comment.lowerBound] }
        while text.last?.isWhitespace == true { text.removeLast() }
        text = text.drop(while: \.isWhitespace)
        return text.isEmpty ? nil : String(text)
    }
}
