internal import TraceSymbols

/// Marks the functions of a Swift module to be hooked, in the assembly that the compiler hands to LLVM.
///
/// LLVM puts the hooks of `-finstrument-functions` into functions with these attributes after it has optimised and inlined
/// (llvm/lib/Transforms/Utils/EntryExitInstrumenter.cpp).
enum SwiftIR {
    private static let attributes =
        " \"instrument-function-entry-inlined\"=\"__cyg_profile_func_enter\""
        + " \"instrument-function-exit-inlined\"=\"__cyg_profile_func_exit\""

    /// Changes the file at `path`.
    ///
    /// - Parameter optimizes: whether LLVM may inline.
    /// - Throws: ``BuildError/cannotRead(_:errno:)``, ``BuildError/cannotWrite(_:errno:)``.
    static func mark(path: String, optimizes: Bool) throws(BuildError) {
        try TextFile.write(marked(try TextFile.bytes(path), optimizes: optimizes), to: path)
    }

    /// `module`, in LLVM's assembly, with its functions marked but for those that only the compiler knows of, and thunks that
    /// call what they lead to.
    ///
    /// - Complexity: O(size).
    static func marked(_ module: [UInt8], optimizes: Bool) -> [UInt8] {
        let functions = functions(in: module)
        var written: Set<String> = []
        for function in functions where function.isMarkable && (function.isNeverInlined || !optimizes) {
            written.insert(function.name)
        }
        var result: [UInt8] = []
        result.reserveCapacity(module.count + functions.count * attributes.utf8.count)
        var copied = 0
        for function in functions where function.isMarkable {
            if function.swift?.kind == .thunk,
                function.callees(in: module).contains(where: { callee in
                    callee != function.name && written.contains(callee)
                        && SwiftName(callee).map { function.swift!.leads(to: $0) } == true
                })
            {
                continue
            }
            result += module[copied..<function.attributesEnd]
            result += attributes.utf8
            copied = function.attributesEnd
        }
        return result + module[copied...]
    }

    private struct Function {
        var name: String
        var swift: SwiftName?
        /// Behind the last attribute in its head, or -1 when it has none.
        var attributesEnd: Int
        var isNeverInlined: Bool
        var body: Range<Int>

        var isMarkable: Bool { attributesEnd >= 0 && swift?.kind != .compilerMade }

        /// The functions called by name.
        func callees(in module: [UInt8]) -> [String] {
            var callees: [String] = []
            var index = body.lowerBound
            while index < body.upperBound {
                let line = SwiftIR.line(module, from: index)
                if let call = find(" call ", module, line) ?? find("\tcall ", module, line),
                    let sign = module[call..<line.upperBound].firstIndex(of: UInt8(ascii: "@"))
                {
                    callees.append(SwiftIR.symbol(module, at: sign + 1, end: line.upperBound).name)
                }
                index = line.upperBound + 1
            }
            return callees
        }
    }

    private static func functions(in module: [UInt8]) -> [Function] {
        let noinline = neverInlinedGroups(module)
        var functions: [Function] = []
        var index = 0
        while index < module.count {
            let line = line(module, from: index)
            index = line.upperBound + 1
            guard starts(module, line, "define "),
                let sign = module[line].firstIndex(of: UInt8(ascii: "@"))
            else { continue }
            let (name, end) = symbol(module, at: sign + 1, end: line.upperBound)
            // The group of attributes stands behind the parameters, before what is about debugging and the body.
            let group = attributeGroup(module, end..<line.upperBound)
            var bodyEnd = index
            while bodyEnd < module.count, module[bodyEnd] != UInt8(ascii: "}") {
                bodyEnd = self.line(module, from: bodyEnd).upperBound + 1
            }
            functions.append(
                Function(
                    name: name, swift: SwiftName(name), attributesEnd: group?.end ?? -1,
                    isNeverInlined: group.map { noinline.contains($0.number) } ?? false,
                    body: min(index, module.count)..<min(bodyEnd, module.count)))
            index = bodyEnd
        }
        return functions
    }

    /// `#12` in the head of a function: the last one that a blank precedes.
    private static func attributeGroup(_ module: [UInt8], _ head: Range<Int>) -> (number: Int, end: Int)? {
        var index = head.upperBound - 1
        while index > head.lowerBound {
            if module[index] == UInt8(ascii: "#"), module[index - 1] == UInt8(ascii: " ") {
                let digits = module[(index + 1)..<head.upperBound].prefix { $0 >= 48 && $0 <= 57 }
                if let number = Int(String(decoding: digits, as: UTF8.self)) { return (number, digits.endIndex) }
            }
            index -= 1
        }
        return nil
    }

    /// Groups of attributes with `noinline`.
    private static func neverInlinedGroups(_ module: [UInt8]) -> Set<Int> {
        var groups: Set<Int> = []
        var index = 0
        while index < module.count {
            let line = line(module, from: index)
            index = line.upperBound + 1
            guard starts(module, line, "attributes #"), find(" noinline ", module, line) != nil else { continue }
            let digits = module[(line.lowerBound + 12)..<line.upperBound].prefix { $0 >= 48 && $0 <= 57 }
            if let number = Int(String(decoding: digits, as: UTF8.self)) { groups.insert(number) }
        }
        return groups
    }

    // MARK: Text

    private static func line(_ text: [UInt8], from index: Int) -> Range<Int> {
        var end = index
        while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
        return index..<end
    }

    private static func starts(_ text: [UInt8], _ line: Range<Int>, _ word: StaticString) -> Bool {
        line.count >= word.utf8CodeUnitCount
            && (0..<word.utf8CodeUnitCount).allSatisfy { text[line.lowerBound + $0] == word.utf8Start[$0] }
    }

    /// Where `word` starts in `line`, or nil.
    private static func find(_ word: StaticString, _ text: [UInt8], _ line: Range<Int>) -> Int? {
        let count = word.utf8CodeUnitCount
        guard line.count >= count else { return nil }
        return (line.lowerBound...(line.upperBound - count)).first { start in
            text[start] == word.utf8Start[0] && (0..<count).allSatisfy { text[start + $0] == word.utf8Start[$0] }
        }
    }

    /// A name behind its `@`, in quotes or not, and where it ends.
    private static func symbol(_ text: [UInt8], at start: Int, end: Int) -> (name: String, end: Int) {
        guard start < end else { return ("", end) }
        if text[start] == UInt8(ascii: "\"") {
            let close = text[(start + 1)..<end].firstIndex(of: UInt8(ascii: "\"")) ?? end
            return (String(decoding: text[(start + 1)..<close], as: UTF8.self), min(close + 1, end))
        }
        let name = text[start..<end].prefix { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: " ") && $0 != 44 }
        return (String(decoding: name, as: UTF8.self), name.endIndex)
    }
}
