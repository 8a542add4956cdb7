internal import TraceSymbols

/// Marks the functions of a Swift module that are to get hooks, in the LLVM assembly that the compiler writes.
///
/// A mark is a pair of attributes. After LLVM has optimised and inlined, it gives functions with these attributes the hooks of
/// `-finstrument-functions` (llvm/lib/Transforms/Utils/EntryExitInstrumenter.cpp).
enum SwiftIR {
    private static let hooks =
        " \"instrument-function-entry-inlined\"=\"__cyg_profile_func_enter\""
        + " \"instrument-function-exit-inlined\"=\"__cyg_profile_func_exit\""

    /// LLVM puts sleds into functions with this one (llvm/lib/CodeGen/XRayInstrumentation.cpp).
    private static let sleds = " \"function-instrument\"=\"xray-always\""

    /// Changes the file at `path`.
    ///
    /// - Parameters:
    ///   - optimizes: whether LLVM may inline.
    ///   - isDormant: whether functions get sleds in place of hooks.
    /// - Throws: ``BuildError/cannotRead(_:errno:)``, ``BuildError/cannotWrite(_:errno:)``.
    static func mark(path: String, optimizes: Bool, isDormant: Bool) throws(BuildError) {
        let module = marked(try TextFile.bytes(path), optimizes: optimizes, isDormant: isDormant)
        try TextFile.write(module, to: path)
    }

    /// Returns `module`, in LLVM's assembly, with its functions marked. Functions that the compiler made for itself stay
    /// unmarked, and so does a thunk of a function that has a mark of its own when the thunk calls it.
    ///
    /// - Complexity: O(size).
    static func marked(_ module: [UInt8], optimizes: Bool, isDormant: Bool = false) -> [UInt8] {
        let attributes = isDormant ? sleds : hooks
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
        return result + module[copied...] + tag(after: module).utf8
    }

    /// Returns a note that LLVM keeps in the object among the compiler's options. The link recognises by it that the object
    /// was compiled through Fathom.
    private static func tag(after module: [UInt8]) -> String {
        var next = 0
        var index = 0
        while index < module.count {
            let line = IRText.line(module, from: index)
            index = line.upperBound + 1
            if module[line].first == UInt8(ascii: "!"),
                let node = IRText.number(module, (line.lowerBound + 1)..<line.upperBound)
            {
                next = max(next, node.number + 1)
            }
        }
        return "\n!llvm.commandline = !{!\(next)}\n!\(next) = !{!\"\(HookFlags.everyFunction)\"}\n"
    }

    private struct Function {
        var name: String
        var swift: SwiftName?
        /// The offset behind the last attribute of the definition; -1 when it has none.
        var attributesEnd: Int
        var isNeverInlined: Bool
        var body: Range<Int>

        var isMarkable: Bool { attributesEnd >= 0 && swift?.kind != .compilerMade }

        /// Returns the functions that this one calls by name.
        func callees(in module: [UInt8]) -> [String] {
            var callees: [String] = []
            var index = body.lowerBound
            while index < body.upperBound {
                let line = IRText.line(module, from: index)
                if let call = IRText.find(" call ", module, line) ?? IRText.find("\tcall ", module, line),
                    let sign = module[call..<line.upperBound].firstIndex(of: UInt8(ascii: "@"))
                {
                    callees.append(IRText.symbol(module, at: sign + 1, end: line.upperBound).name)
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
            let line = IRText.line(module, from: index)
            index = line.upperBound + 1
            guard let definition = IRText.Definition(module, line) else { continue }
            var bodyEnd = index
            while bodyEnd < module.count, module[bodyEnd] != UInt8(ascii: "}") {
                bodyEnd = IRText.line(module, from: bodyEnd).upperBound + 1
            }
            functions.append(
                Function(
                    name: definition.name, swift: SwiftName(definition.name),
                    attributesEnd: definition.group?.digits.upperBound ?? -1,
                    isNeverInlined: definition.group.map { noinline.contains($0.number) } ?? false,
                    body: min(index, module.count)..<min(bodyEnd, module.count)))
            index = bodyEnd
        }
        return functions
    }

    /// Returns the numbers of the attribute groups that hold `noinline`.
    private static func neverInlinedGroups(_ module: [UInt8]) -> Set<Int> {
        var groups: Set<Int> = []
        var index = 0
        while index < module.count {
            let line = IRText.line(module, from: index)
            index = line.upperBound + 1
            guard let group = IRText.attributeGroup(module, line), IRText.find(" noinline ", module, line) != nil else {
                continue
            }
            groups.insert(group)
        }
        return groups
    }
}
