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
        let module = try TextFile.bytes(path)
        var groups: [Int: Range<Int>] = [:]
        var sources = DebugSources()
        forEachLine(of: module) { line in
            if let number = IRText.attributeGroup(module, line) {
                groups[number] = line
            } else if module[line].first == UInt8(ascii: "!") {
                sources.add(String(decoding: module[line], as: UTF8.self))
            }
        }
        var copies: [Int: Int] = [:]
        var next = (groups.keys.max() ?? 0) + 1
        var text: [UInt8] = []
        text.reserveCapacity(module.count)
        var copied = 0
        forEachLine(of: module) { line in
            guard let definition = IRText.Definition(module, line), let group = definition.group,
                groups[group.number] != nil
            else { return }
            let debug = IRText.find("!dbg !", module, group.digits.upperBound..<line.upperBound)
            let file = debug.flatMap { IRText.number(module, ($0 + 6)..<line.upperBound) }
            guard isExcluded(definition.name, file.flatMap { sources.file(ofFunction: $0.number) }) else { return }
            if copies[group.number] == nil {
                copies[group.number] = next
                next += 1
            }
            text += module[copied..<group.digits.lowerBound]
            text += "\(copies[group.number]!)".utf8
            copied = group.digits.upperBound
        }
        text += module[copied...]
        for (group, copy) in copies.sorted(by: <) {
            let attributes = String(decoding: module[groups[group]!], as: UTF8.self)
                .replacing("attributes #\(group) ", with: "attributes #\(copy) ")
                .replacing(/"instrument-function-(entry|exit)(-inlined)?"="[^"]*" ?/, with: "")
            text += "\n\(attributes)\n".utf8
        }
        try TextFile.write(text, to: path)
    }

    private static func forEachLine(of text: [UInt8], _ body: (Range<Int>) -> Void) {
        var index = 0
        while index < text.count {
            let line = IRText.line(text, from: index)
            body(line)
            index = line.upperBound + 1
        }
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
