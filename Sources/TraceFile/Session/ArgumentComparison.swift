internal import CTraceFormat

/// What a condition says of one argument of a call, as in `path=="/slow"`.
public struct ArgumentComparison: Sendable, Hashable {
    /// What a value is compared with, as people write it.
    enum Literal: Sendable, Hashable {
        case text([UInt8])
        case character(UInt32)
        case integer(isNegative: Bool, UInt64)
        case floating(Double)
        /// `true`, `null`, a case of an enumeration, or several joined by `|`.
        case word(String)
    }

    /// The argument, as `--args` takes it.
    public let name: String
    /// FATHOM_TEST_*.
    let test: UInt32
    let literal: Literal

    /// The bytes of the text that the argument is compared with.
    public var textSize: Int { if case .text(let bytes) = literal { bytes.count } else { 0 } }

    // MARK: Reading

    /// Reads comparisons that are joined by commas or `&&`, up to the parenthesis that closes them.
    ///
    /// - Returns: them, and what stands behind the parenthesis; nil when the text is something else.
    public static func list(_ text: Substring) -> (comparisons: [ArgumentComparison], rest: Substring)? {
        var comparisons: [ArgumentComparison] = [], rest = text
        while let comparison = ArgumentComparison(&rest) {
            comparisons.append(comparison)
            rest = rest.drop { $0 == " " }
            if rest.first == ")" { return (comparisons, rest.dropFirst()) }
            if rest.first == "," {
                rest = rest.dropFirst()
            } else if rest.hasPrefix("&&") {
                rest = rest.dropFirst(2)
            } else {
                return nil
            }
        }
        return nil
    }

    private static let signs = [
        ("==", FATHOM_TEST_EQUAL), ("!=", FATHOM_TEST_NOT_EQUAL), ("<=", FATHOM_TEST_AT_MOST),
        (">=", FATHOM_TEST_AT_LEAST), ("<", FATHOM_TEST_LESS), (">", FATHOM_TEST_GREATER),
    ]

    private init?(_ rest: inout Substring) {
        rest = rest.drop { $0 == " " }
        let start = rest
        while let letter = rest.first {
            if rest.hasPrefix("->") {
                rest = rest.dropFirst(2)
            } else if letter.isLetter || letter.isNumber || "_$.*".contains(letter) {
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        name = String(start[..<rest.startIndex])
        rest = rest.drop { $0 == " " }
        guard !name.isEmpty, let (sign, test) = Self.signs.first(where: { rest.hasPrefix($0.0) }) else { return nil }
        self.test = test
        rest = rest.dropFirst(sign.count).drop { $0 == " " }
        guard let literal = Self.literal(&rest) else { return nil }
        self.literal = literal
    }

    private static func literal(_ rest: inout Substring) -> Literal? {
        if let quote = rest.first, quote == "\"" || quote == "'" {
            guard let bytes = quoted(&rest, by: quote) else { return nil }
            if quote == "\"" { return .text(bytes) }
            let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            guard scalars.count == 1 || bytes.count == 1 else { return nil }
            return .character(bytes.count == 1 ? UInt32(bytes[0]) : scalars.first!.value)
        }
        let word = rest.prefix { $0.isLetter || $0.isNumber || "_$.+-|:".contains($0) }
        guard !word.isEmpty else { return nil }
        rest = rest[word.endIndex...]
        let isNegative = word.hasPrefix("-"), digits = isNegative ? word.dropFirst() : word
        let number = digits.hasPrefix("0x") ? UInt64(digits.dropFirst(2), radix: 16) : UInt64(digits)
        if let number { return .integer(isNegative: isNegative, number) }
        if word.first!.isNumber || isNegative { return Double(word).map { .floating($0) } }
        return .word(String(word))
    }

    /// Reads a text with escapes as C has them, and as values are shown.
    private static func quoted(_ rest: inout Substring, by quote: Character) -> [UInt8]? {
        var bytes: [UInt8] = []
        rest = rest.dropFirst()
        while let letter = rest.popFirst() {
            if letter == quote { return bytes }
            guard letter == "\\" else {
                bytes += Array(String(letter).utf8)
                continue
            }
            switch rest.popFirst() {
            case "n": bytes.append(10)
            case "t": bytes.append(9)
            case "r": bytes.append(13)
            case "0": bytes.append(0)
            case "x":
                guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            case let other? where "\\\"'".contains(other): bytes += Array(String(other).utf8)
            default: return nil
            }
        }
        return nil
    }

    // MARK: Testing

    /// How values of a kind are compared; nil when they cannot be compared with what is written.
    public func test(of kind: ArgumentLayout.Kind) -> ArgumentTest? {
        switch kind {
        case .signed(let size) where size <= 8: return integer().map { word(FATHOM_TEST_AS_SIGNED, $0) }
        case .unsigned(let size) where size <= 8: return unsigned(size)
        case .number(let size, _) where size <= 8: return unsigned(size)
        case .pointer(let size) where size <= 8:
            return literal == .word("null") ? word(FATHOM_TEST_AS_UNSIGNED, 0) : unsigned(size)
        case .bool(let size) where size <= 8:
            switch literal {
            case .word("true"): return word(FATHOM_TEST_AS_UNSIGNED, 1)
            case .word("false"): return word(FATHOM_TEST_AS_UNSIGNED, 0)
            default: return unsigned(size)
            }
        case .character(let size) where size <= 8:
            if case .character(let value) = literal { return word(FATHOM_TEST_AS_UNSIGNED, UInt64(value)) }
            return unsigned(size)
        case .enumeration(let size, let isSigned, let cases) where size <= 8:
            let number = Self.number(literal, cases) ?? integer()
            return number.map { word(isSigned ? FATHOM_TEST_AS_SIGNED : FATHOM_TEST_AS_UNSIGNED, $0) }
        case .floating(4): return number().map { bytes(FATHOM_TEST_AS_FLOATING, Float($0).bitPattern) }
        case .floating(8): return number().map { bytes(FATHOM_TEST_AS_FLOATING, $0.bitPattern) }
        case .text:
            if case .text(let text) = literal {
                return ArgumentTest(test: test, comparedAs: FATHOM_TEST_AS_TEXT, operand: text)
            }
            guard literal == .word("null") || literal == .integer(isNegative: false, 0) else { return nil }
            return ArgumentTest(test: test, comparedAs: FATHOM_TEST_AS_NULL, operand: [])
        default: return nil
        }
    }

    private func word(_ comparedAs: UInt32, _ value: UInt64) -> ArgumentTest { bytes(comparedAs, value) }

    private func bytes(_ comparedAs: UInt32, _ value: some FixedWidthInteger) -> ArgumentTest {
        ArgumentTest(
            test: test, comparedAs: comparedAs, operand: withUnsafeBytes(of: value.littleEndian) { Array($0) })
    }

    /// A number in 64 bits with a sign.
    private func integer() -> UInt64? {
        switch literal {
        case .integer(false, let number) where number <= UInt64(Int64.max): number
        case .integer(true, let number) where number <= 1 << 63: 0 &- number
        case .character(let value): UInt64(value)
        default: nil
        }
    }

    private func unsigned(_ size: Int) -> ArgumentTest? {
        switch literal {
        case .integer(false, let number): word(FATHOM_TEST_AS_UNSIGNED, number)
        case .character(let value): word(FATHOM_TEST_AS_UNSIGNED, UInt64(value))
        default: nil
        }
    }

    private func number() -> Double? {
        switch literal {
        case .integer(let isNegative, let number): isNegative ? -Double(number) : Double(number)
        case .floating(let number): number
        default: nil
        }
    }

    /// The number of a case, or of several joined by `|`. What stands before a case's name, as in `mood::calm`, is no matter.
    private static func number(_ literal: Literal, _ cases: [Int64: String]) -> UInt64? {
        guard case .word(let word) = literal else { return nil }
        var result: UInt64 = 0
        for name in word.split(separator: "|", omittingEmptySubsequences: false) {
            let last = name.split(whereSeparator: { $0 == ":" || $0 == "." }).last.map(String.init)
            guard let found = cases.first(where: { $0.value == last }) else { return nil }
            result |= UInt64(bitPattern: found.key)
        }
        return result
    }
}

/// How a recorded value is compared, by the traced process or by a reader.
public struct ArgumentTest: Sendable, Hashable {
    /// FATHOM_TEST_*, and FATHOM_TEST_AS_*.
    let test: UInt32
    let comparedAs: UInt32
    let operand: [UInt8]

    /// - Parameter how: FATHOM_VALUE*.
    func holds(how: UInt32, _ value: UnsafeRawBufferPointer) -> Bool {
        fathom_test_holds(test, comparedAs, operand, operand.count, how, value.baseAddress, value.count) != 0
    }
}

extension ArgumentSteps {
    /// Tests the value that was given last for a condition on the call.
    public mutating func test(_ test: ArgumentTest, for condition: Int) {
        bytes += [UInt8(FATHOM_STEP_TEST), UInt8(condition), UInt8(test.test), UInt8(test.comparedAs)]
        withUnsafeBytes(of: UInt16(test.operand.count).littleEndian) { bytes += $0 }
        bytes += test.operand
    }
}

/// The calls of some functions that the recorder hears of for their arguments.
public struct FunctionCondition: Sendable {
    /// The pattern of the functions' names.
    public var pattern: String
    public var comparisons: [ArgumentComparison]
    /// How long calls have to take, in ns.
    public var duration: UInt64
    /// As it was written.
    public var text: String

    public init(pattern: String, comparisons: [ArgumentComparison], duration: UInt64, text: String) {
        self.pattern = pattern
        self.comparisons = comparisons
        self.duration = duration
        self.text = text
    }

    /// So many conditions can be told of.
    public static let countLimit = Int(FATHOM_CONDITION_LIMIT)
}
