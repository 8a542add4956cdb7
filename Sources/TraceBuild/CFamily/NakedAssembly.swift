internal import Glibc

/// Takes gcc's hooks out of functions without a prologue (`__attribute__((naked))`), in what gcc hands to the assembler. Such a
/// function has statements of assembly that know where everything is; gcc sets up and calls its hooks in the midst of that all
/// the same. clang gives such functions none. The code is as gcc makes it for x86-64 (gcc, i386.cc).
struct NakedAssembly {
    /// The assembly without those hooks; nil when there is none such function.
    private(set) var text: [UInt8]?
    /// Functions of this kind that keep their hooks, because they also have statements in C that use arguments.
    private(set) var left: [String] = []

    private let given: [UInt8]
    private var lines: [Range<Int>] = []

    /// - Complexity: O(bytes); where no function has statements of assembly, they are only searched for that.
    init(_ text: [UInt8]) {
        given = text
        guard Self.contains(text, "#APP"), Self.contains(text, "__cyg_profile_func_enter") else { return }
        var index = 0
        while index < text.count {
            let line = IRText.line(text, from: index)
            lines.append(line)
            index = line.upperBound + 1
        }
        var dropped: [Range<Int>] = []
        var function: (name: ArraySlice<UInt8>, first: Int)?
        for (number, line) in lines.enumerated() {
            if let name = Self.function(typedBy: text[line]) { function = (name, number + 1) }
            guard let (name, first) = function, IRText.starts(text, line, "\t.size\t"),
                text[line].dropFirst(7).starts(with: name)
            else { continue }
            dropped += hooks(in: first..<number, of: name)
            function = nil
        }
        guard !dropped.isEmpty else { return }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var copied = 0
        for line in dropped {
            result += text[copied..<line.lowerBound]
            copied = min(line.upperBound + 1, text.count)
        }
        self.text = result + text[copied...]
    }

    /// The name in `\t.type\tf, @function`.
    static func function(typedBy line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard line.starts(with: "\t.type\t".utf8), line.suffix(11).elementsEqual(", @function".utf8) else { return nil }
        return line.dropFirst(7).dropLast(11)
    }

    private static func contains(_ text: [UInt8], _ word: StaticString) -> Bool {
        text.withUnsafeBytes { bytes in
            let count = word.utf8CodeUnitCount
            var at = 0
            while bytes.count - at >= count,
                let found = memchr(bytes.baseAddress! + at, Int32(word.utf8Start[0]), bytes.count - at - count + 1)
            {
                if memcmp(found, word.utf8Start, count) == 0 { return true }
                at = UnsafeRawPointer(found) - bytes.baseAddress! + 1
            }
            return false
        }
    }

    // MARK: One function

    /// An instruction that the compiler made.
    private struct Instruction {
        var line: Range<Int>
        /// Whether assembly of the source, or a label that is jumped to, stands between this and the one before.
        var isApart: Bool
        var mnemonic: Substring
        var operands: [Substring]
        var text: String
    }

    /// The lines of its hooks; none when it has a prologue.
    private mutating func hooks(in range: Range<Int>, of name: ArraySlice<UInt8>) -> [Range<Int>] {
        var instructions: [Instruction] = []
        var isOfSource = false, isApart = false, hasAssembly = false
        for line in lines[range] {
            if IRText.starts(given, line, "#APP") { (isOfSource, isApart, hasAssembly) = (true, true, true) }
            if IRText.starts(given, line, "#NO_APP") { isOfSource = false }
            guard !isOfSource, line.count > 1, given[line.lowerBound] == UInt8(ascii: "\t"),
                given[line.lowerBound + 1] != UInt8(ascii: "."), given[line.lowerBound + 1] != UInt8(ascii: "#")
            else { continue }
            let text = String(decoding: given[line].dropFirst(), as: UTF8.self)
            let words = text.split(separator: "\t", maxSplits: 1)
            instructions.append(
                Instruction(
                    line: line, isApart: isApart, mnemonic: words[0],
                    operands: words.count > 1 ? Self.operands(words[1]) : [], text: text))
            isApart = false
        }
        guard hasAssembly, let entry = instructions.firstIndex(where: { Self.isCall($0) }),
            !instructions.contains(where: { Self.frame.contains($0.mnemonic) || Self.movesStack($0) })
        else { return [] }
        let before = instructions[..<entry]
        guard before.allSatisfy(Self.setsUp), instructions[...entry].contains(where: { $0.text.contains(Self.enter) })
        else {
            return []
        }
        guard !before.contains(where: { Self.arguments.contains($0.operands.first ?? "") }) else {
            left.append(String(decoding: name, as: UTF8.self))
            return []
        }
        var lines = before.filter { $0.mnemonic != "endbr64" }.map(\.line) + [instructions[entry].line]
        // An exit hook is set up right before its call.
        for call in instructions.indices.dropFirst(entry + 1) where Self.isCall(instructions[call]) {
            var first = call
            while first > entry + 1, !instructions[first].isApart, Self.setsUp(instructions[first - 1]) { first -= 1 }
            guard instructions[first...call].contains(where: { $0.text.contains(Self.exit) }) else { continue }
            lines += instructions[first...call].map(\.line)
        }
        return lines
    }

    private static let enter = "__cyg_profile_func_enter"
    private static let exit = "__cyg_profile_func_exit"
    /// Registers that arguments are in.
    private static let arguments: Set<Substring> = [
        "%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9", "%edi", "%esi", "%edx", "%ecx", "%r8d", "%r9d",
    ]
    /// What only a function with a prologue has.
    private static let frame: Set<Substring> = ["ret", "leave", "pushq", "popq", "enter"]

    private static func isCall(_ instruction: Instruction) -> Bool { instruction.mnemonic.hasPrefix("call") }

    private static func movesStack(_ instruction: Instruction) -> Bool { instruction.operands.last == "%rsp" }

    /// Whether an instruction only puts something into a register.
    private static func setsUp(_ instruction: Instruction) -> Bool {
        instruction.mnemonic == "endbr64"
            || ["mov", "lea", "add"].contains { instruction.mnemonic.hasPrefix($0) }
                && instruction.operands.last?.hasPrefix("%") == true
    }

    /// `8(%rsp), %rsi`
    private static func operands(_ text: Substring) -> [Substring] {
        var operands: [Substring] = [], start = text.startIndex, depth = 0
        for index in text.indices {
            switch text[index] {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 0:
                operands.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        operands.append(text[start...])
        return operands.map { $0.drop { $0 == " " }.prefix { $0 != " " && $0 != "\t" } }
    }
}
