internal import Glibc

/// Whole files, read and written at once.
enum TextFile {
    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    static func bytes(_ path: String) throws(BuildError) -> [UInt8] {
        guard let file = fopen(path, "rbe") else { throw .cannotRead(path, errno: errno) }
        defer { fclose(file) }
        var status = stat()
        guard fstat(fileno(file), &status) == 0 else { throw .cannotRead(path, errno: errno) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(status.st_size))
        // To the end, not to the size: a pipe has none.
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        guard ferror(file) == 0 else { throw .cannotRead(path, errno: errno) }
        return bytes
    }

    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    static func read(_ path: String) throws(BuildError) -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func write(_ bytes: [UInt8], to path: String) throws(BuildError) {
        guard let file = fopen(path, "wbe") else { throw .cannotWrite(path, errno: errno) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw .cannotWrite(path, errno: errno) }
    }

    /// Writes a file that others may be reading: they find the old one or the new one, whole.
    ///
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func replace(_ path: String, with text: String) throws(BuildError) {
        let temporary = "\(path).\(getpid())"
        try write(text, to: temporary)
        guard rename(temporary, path) == 0 else {
            let error = errno
            unlink(temporary)
            throw .cannotWrite(path, errno: error)
        }
    }

    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func write(_ text: String, to path: String) throws(BuildError) { try write(Array(text.utf8), to: path) }
}

/// Arguments that a compiler's caller keeps in a file, `@path`, as gcc and clang read them.
enum ResponseFile {
    /// Puts the words of files in the place of their names, those of files within files too. The name of a file that cannot
    /// be read is an argument like any other.
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
