internal import Glibc
internal import TraceText

/// LLVM's assembly as text (LLVM Language Reference Manual), as far as functions' attributes go.
enum IRText {
    /// The head of a function: `define internal i32 @name(i32 %0) #3 !dbg !12 {`.
    struct Definition {
        var name: String
        /// The group of its attributes, and where the group's number stands: behind the parameters, before debug
        /// information and the body.
        var group: (number: Int, digits: Range<Int>)?

        /// - Returns: nil when `line` defines no function.
        init?(_ text: [UInt8], _ line: Range<Int>) {
            guard starts(text, line, "define "), let sign = text[line].firstIndex(of: UInt8(ascii: "@")) else {
                return nil
            }
            let symbol = symbol(text, at: sign + 1, end: line.upperBound)
            name = symbol.name
            group = Self.group(text, symbol.end..<line.upperBound)
        }

        /// Finds `#12`: the last such group that stands behind a blank.
        private static func group(_ text: [UInt8], _ head: Range<Int>) -> (number: Int, digits: Range<Int>)? {
            var index = head.upperBound - 1
            while index > head.lowerBound {
                if text[index] == UInt8(ascii: "#"), text[index - 1] == UInt8(ascii: " "),
                    let found = number(text, (index + 1)..<head.upperBound)
                {
                    return found
                }
                index -= 1
            }
            return nil
        }
    }

    /// The number of the group that a line defines: `attributes #3 = { nounwind }`.
    static func attributeGroup(_ text: [UInt8], _ line: Range<Int>) -> Int? {
        guard starts(text, line, "attributes #") else { return nil }
        return number(text, (line.lowerBound + 12)..<line.upperBound)?.number
    }

    /// The number that begins a stretch of text.
    static func number(_ text: [UInt8], _ range: Range<Int>) -> (number: Int, digits: Range<Int>)? {
        let digits = text[range].prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)).map { ($0, digits.startIndex..<digits.endIndex) }
    }

    /// A text that stood in quotes: bytes that are no letters of ASCII stand there as `\E9`.
    static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = [], rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), case let digits = String(Substring(rest.prefix(2))), digits.utf8.count == 2,
                let value = UInt8(digits, radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(raw: bytes)
    }

    static func line(_ text: [UInt8], from index: Int) -> Range<Int> {
        text.withUnsafeBytes { bytes in
            let found = memchr(bytes.baseAddress! + index, 0x0a, bytes.count - index)
            return index..<(found.map { UnsafeRawPointer($0) - bytes.baseAddress! } ?? bytes.count)
        }
    }

    static func starts(_ text: [UInt8], _ line: Range<Int>, _ word: StaticString) -> Bool {
        line.count >= word.utf8CodeUnitCount
            && (0..<word.utf8CodeUnitCount).allSatisfy { text[line.lowerBound + $0] == word.utf8Start[$0] }
    }

    /// Where `word` starts in `line`, or nil.
    static func find(_ word: StaticString, _ text: [UInt8], _ line: Range<Int>) -> Int? {
        let count = word.utf8CodeUnitCount
        guard line.count >= count else { return nil }
        return (line.lowerBound...(line.upperBound - count)).first { start in
            text[start] == word.utf8Start[0] && (0..<count).allSatisfy { text[start + $0] == word.utf8Start[$0] }
        }
    }

    /// Reads a name behind its `@`, in quotes or not, and returns it with the place where it ends.
    static func symbol(_ text: [UInt8], at start: Int, end: Int) -> (name: String, end: Int) {
        guard start < end else { return ("", end) }
        if text[start] == UInt8(ascii: "\"") {
            let close = text[(start + 1)..<end].firstIndex(of: UInt8(ascii: "\"")) ?? end
            return (String(decoding: text[(start + 1)..<close], as: UTF8.self), min(close + 1, end))
        }
        let name = text[start..<end].prefix { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: " ") && $0 != 44 }
        return (String(decoding: name, as: UTF8.self), name.endIndex)
    }
}
