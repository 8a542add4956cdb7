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

    /// Blanks separate, quotes keep together, a backslash takes the next character as it is.
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = text.makeIterator()
        while let character = characters.next() {
            if character == "\\" {
                word = (word ?? "") + (characters.next().map(String.init) ?? "")
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }
}
