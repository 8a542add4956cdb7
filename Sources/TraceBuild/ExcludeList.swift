internal import Glibc

/// A file that lists functions to leave out, one a line. What follows a `#` at the line's beginning or behind white space is
/// a comment.
public enum ExcludeList {
    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    public static func read(_ path: String) throws(BuildError) -> [String] {
        guard let file = fopen(path, "re") else { throw .cannotRead(path, errno: errno) }
        defer { fclose(file) }
        var names: [String] = []
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let line {
            if let name = name(in: String(cString: line)) { names.append(name) }
        }
        guard ferror(file) == 0 else { throw .cannotRead(path, errno: errno) }
        return names
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
