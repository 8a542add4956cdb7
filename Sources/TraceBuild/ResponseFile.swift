internal import Glibc

/// Arguments that a compiler's caller keeps in a file, `@path`, as gcc and clang read them.
enum ResponseFile {
    /// Puts the words of each file in the place of its name, and does the same with files that these name. The name of
    /// a file that cannot be read is an argument like any other.
    ///
    /// - Throws: ``BuildError/cannotRead(_:errno:)`` when reading fails midway.
    static func expand(_ arguments: [String], depth: Int = 0) throws(BuildError) -> [String] {
        var expanded: [String] = []
        for argument in arguments {
            if argument.hasPrefix("@"), depth < 32, access(String(argument.dropFirst()), R_OK) == 0 {
                expanded += try expand(words(try TextFile.read(String(argument.dropFirst()))), depth: depth + 1)
            } else {
                expanded.append(argument)
            }
        }
        return expanded
    }

    /// Blanks of ASCII separate, quotes keep together, a backslash takes the next character as it is.
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var quote: Unicode.Scalar?
        var scalars = text.unicodeScalars.makeIterator()
        func add(_ scalar: Unicode.Scalar?) {
            var longer = word ?? String.UnicodeScalarView()
            if let scalar { longer.append(scalar) }
            word = longer
        }
        while let scalar = scalars.next() {
            if scalar == "\\" {
                add(scalars.next())
            } else if let open = quote {
                if scalar == open { quote = nil } else { add(scalar) }
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
                add(nil)
            } else if scalar.isASCII, scalar.properties.isWhitespace {
                if let done = word { words.append(String(done)) }
                word = nil
            } else {
                add(scalar)
            }
        }
        if let word { words.append(String(word)) }
        return words
    }
}
