/// clang's intermediate form as text (LLVM Language Reference Manual), in which a function's attributes ask for hooks.
enum IntermediateForm {
    /// Where a function is defined, as debug information says.
    enum Place: Equatable {
        /// An absolute path.
        case file(String)
        /// Nowhere: the source hides the function from debuggers, as compilers' own headers do.
        case hidden
        /// There is no debug information.
        case unknown
    }

    /// Removes the hooks from functions of a file that clang wrote with `-S -emit-llvm`. A coroutine that keeps its
    /// hooks gets them only after it has been split into parts, so that each part has its own. Earlier, only its first
    /// part would get them.
    ///
    /// - Parameter isExcluded: asked with each function's linkage name.
    /// - Complexity: O(bytes).
    static func removeHooks(
        in path: String, where isExcluded: (_ function: String, _ place: Place) -> Bool
    ) throws(BuildError) {
        let module = try TextFile.bytes(path)
        var groups: [Int: Range<Int>] = [:]
        var sources = DebugSources()
        forEachLine(of: module) { line in
            if let number = IRText.attributeGroup(module, line) {
                groups[number] = line
            } else if module[line].first == UInt8(ascii: "!") {
                sources.add(module, line)
            }
        }
        var copies: [Int: Int] = [:]
        var next = (groups.keys.max() ?? 0) + 1
        var text: [UInt8] = []
        text.reserveCapacity(module.count)
        var copied = 0
        forEachLine(of: module) { line in
            if let number = IRText.attributeGroup(module, line), groups[number] == line,
                IRText.find(" presplitcoroutine", module, line) != nil
            {
                text += module[copied..<line.lowerBound]
                text +=
                    String(decoding: module[line], as: UTF8.self)
                    .replacing(/"instrument-function-(entry|exit)"=/) { "\"instrument-function-\($0.1)-inlined\"=" }
                    .utf8
                copied = line.upperBound
            }
            guard let definition = IRText.Definition(module, line), let group = definition.group,
                groups[group.number] != nil
            else { return }
            let debug = IRText.find("!dbg !", module, group.digits.upperBound..<line.upperBound)
            let function = debug.flatMap { IRText.number(module, ($0 + 6)..<line.upperBound)?.number }
            let isHarmed = groups[group.number].map { hooksHarm(module, $0) } ?? false
            guard isHarmed || isExcluded(definition.name, sources.place(ofFunction: function)) else { return }
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
                .replacing(
                    /"(instrument-function-(entry|exit)(-inlined)?|xray-instruction-threshold)"="[^"]*" ?/, with: "")
            text += "\n\(attributes)\n".utf8
        }
        try TextFile.write(text, to: path)
    }

    /// Whether functions with a group of attributes are to have no hooks. clang before version 17 gives some to functions without a
    /// prologue, too; and it leaves by a jump to the exit hook where all registers are to be as the caller left them.
    private static func hooksHarm(_ module: [UInt8], _ attributes: Range<Int>) -> Bool {
        IRText.find(" naked ", module, attributes) != nil
            || IRText.find("\"no_caller_saved_registers\"", module, attributes) != nil
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

/// Knows, from debug information, which file each function of an intermediate form is defined in.
private struct DebugSources {
    private var files: [Int: String] = [:]
    private var functions: [Int: Int] = [:]

    /// Reads a metadata line: `!12 = distinct !DISubprogram(… file: !1 …)`, `!1 = !DIFile(filename: "a.c", directory: "/d")`.
    /// Most lines are something else.
    mutating func add(_ text: [UInt8], _ line: Range<Int>) {
        guard let key = IRText.number(text, (line.lowerBound + 1)..<line.upperBound) else { return }
        let value = min(key.digits.upperBound + 3, line.upperBound)..<line.upperBound  // behind " = "
        if IRText.starts(text, value, "distinct !DISubprogram(") {
            functions[key.number] = IRText.find("file: !", text, value).flatMap {
                IRText.number(text, ($0 + 7)..<line.upperBound)?.number
            }
        } else if IRText.starts(text, value, "!DIFile(") {
            let words = String(decoding: text[value], as: UTF8.self)
            guard let match = words.firstMatch(of: /filename: "([^"]*)", directory: "([^"]*)"/) else { return }
            files[key.number] = absolutePath(IRText.unescaped(match.1), in: IRText.unescaped(match.2))
        }
    }

    /// - Parameter function: the number of its description, if its definition has one.
    func place(ofFunction function: Int?) -> IntermediateForm.Place {
        if functions.isEmpty { return .unknown }
        return function.flatMap { functions[$0] }.flatMap { files[$0] }.map { .file($0) } ?? .hidden
    }
}
