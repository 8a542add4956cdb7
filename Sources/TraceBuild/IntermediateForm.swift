internal import Glibc

/// clang's intermediate form as text (LLVM Language Reference Manual), in which a function's attributes ask for hooks.
enum IntermediateForm {
    /// Takes the hooks from functions of a file that clang wrote with `-S -emit-llvm`.
    ///
    /// - Parameter isExcluded: asked with each function's linkage name and, with debug information, the file it is
    ///   defined in, absolute.
    /// - Complexity: O(bytes).
    static func removeHooks(in path: String, where isExcluded: (_ function: String, _ file: String?) -> Bool)
        throws(BuildError)
    {
        let lines = try read(path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var groups: [Int: ArraySlice<UInt8>] = [:]
        var sources = DebugSources()
        for line in lines {
            if line.starts(with: "attributes #".utf8), let number = leadingNumber(line.dropFirst(12)) {
                groups[number] = line
            } else if line.first == UInt8(ascii: "!") {
                sources.add(String(decoding: line, as: UTF8.self))
            }
        }
        var copies: [Int: Int] = [:]
        var next = (groups.keys.max() ?? 0) + 1
        var text: [UInt8] = []
        for line in lines {
            if line.starts(with: "define ".utf8), let definition = Definition(line), groups[definition.group] != nil,
                isExcluded(definition.name, definition.debug.flatMap { sources.file(ofFunction: $0) })
            {
                if copies[definition.group] == nil {
                    copies[definition.group] = next
                    next += 1
                }
                text += line[..<definition.groupDigits.lowerBound]
                text += "\(copies[definition.group]!)".utf8
                text += line[definition.groupDigits.upperBound...]
            } else {
                text += line
            }
            text.append(UInt8(ascii: "\n"))
        }
        for (group, copy) in copies.sorted(by: <) {
            let attributes = String(decoding: groups[group]!, as: UTF8.self)
                .replacing("attributes #\(group) ", with: "attributes #\(copy) ")
                .replacing(/"instrument-function-(entry|exit)(-inlined)?"="[^"]*" ?/, with: "")
            text += "\(attributes)\n".utf8
        }
        try write(text, to: path)
    }

    /// `define internal i32 @name(i32 %0) #3 !dbg !12 {`
    private struct Definition {
        var name: String
        var group = -1
        var groupDigits: Range<Int>
        var debug: Int?

        init?(_ line: ArraySlice<UInt8>) {
            guard let at = line.firstIndex(of: UInt8(ascii: "@")) else { return nil }
            var end = at + 1
            if line[end...].first == UInt8(ascii: "\"") {
                guard let quote = line[(end + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
                name = String(decoding: line[(end + 1)..<quote], as: UTF8.self)
                end = quote + 1
            } else {
                end = line[end...].firstIndex(of: UInt8(ascii: "(")) ?? end
                name = String(decoding: line[(at + 1)..<end], as: UTF8.self)
            }
            // Behind the parameters, where attributes of theirs have no groups.
            guard let hash = line[end...].lastIndex(of: UInt8(ascii: "#")),
                let number = leadingNumber(line[(hash + 1)...])
            else { return nil }
            group = number
            groupDigits = (hash + 1)..<(hash + 1 + String(number).utf8.count)
            let rest = String(decoding: line[groupDigits.upperBound...], as: UTF8.self)
            debug = rest.firstMatch(of: /!dbg !([0-9]+)/).flatMap { Int($0.1) }
        }
    }

    private static func leadingNumber(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(String(decoding: bytes.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }

    private static func read(_ path: String) throws(BuildError) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw .cannotRun(path, errno: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(BuildError) {
        guard let file = fopen(path, "we") else { throw .cannotWrite(path, errno: errno) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw .cannotWrite(path, errno: errno) }
    }
}

/// Which file each function of an intermediate form is defined in, by its debug information.
private struct DebugSources {
    private var files: [Int: String] = [:]
    private var functions: [Int: Int] = [:]

    /// Reads a metadata line: `!12 = distinct !DISubprogram(… file: !1 …)`, `!1 = !DIFile(filename: "a.c", directory: "/d")`.
    mutating func add(_ line: String) {
        guard let equals = line.firstRange(of: " = "), let number = Int(line[..<equals.lowerBound].dropFirst()) else {
            return
        }
        if line[equals.upperBound...].hasPrefix("distinct !DISubprogram(") {
            functions[number] = line.firstMatch(of: /file: !([0-9]+)/).flatMap { Int($0.1) }
        } else if line[equals.upperBound...].hasPrefix("!DIFile("),
            let match = line.firstMatch(of: /filename: "([^"]*)", directory: "([^"]*)"/)
        {
            files[number] = absolutePath(String(match.1), in: String(match.2))
        }
    }

    func file(ofFunction number: Int) -> String? { functions[number].flatMap { files[$0] } }
}
