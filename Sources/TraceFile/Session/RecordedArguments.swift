internal import CTraceFormat
internal import TraceText

/// The arguments of a call, or its result, as they were recorded. The bytes live as long as the session.
@frozen
public struct RecordedArguments: BitwiseCopyable, Sendable {
    /// Where the record's layout id and the values behind it begin; nil: none were recorded.
    nonisolated(unsafe) public var start: UnsafeRawPointer?
    public var count: Int

    @inlinable
    public init(start: UnsafeRawPointer? = nil, count: Int = 0) {
        self.start = start
        self.count = count
    }

    @inlinable public var isEmpty: Bool { start == nil }

    /// Whether both say the same.
    public func equals(_ other: RecordedArguments) -> Bool {
        guard let start, let others = other.start else { return isEmpty && other.isEmpty }
        return count == other.count
            && UnsafeRawBufferPointer(start: start, count: count)
                .elementsEqual(UnsafeRawBufferPointer(start: others, count: count))
    }

    /// The name of a result's second value, which says why the function failed where its result does.
    public static let error = "errno"

    /// Returns a result as text; nil when there is none, or its layout is not known.
    public func result(by layouts: [UInt32: ArgumentLayout]) -> String? {
        let values = values(by: layouts)
        guard let first = values.first else { return nil }
        if first.name.isEmpty {
            let failed =
                values.count == 2 && values[1].name == Self.error && values[1].value != ArgumentReader.missing
                && ["-1", "null", "0xffffffffffffffff"].contains(first.value)
            return failed ? "\(first.value == "null" ? "null" : "-1") \(values[1].value)" : first.value
        }
        // Older recordings have the members of a structure.
        return "{" + values.map { "\($0.name)=\($0.value)" }.joined(separator: ", ") + "}"
    }

    /// Returns the names and values, as text; none when the layout is not known.
    public func values(by layouts: [UInt32: ArgumentLayout]) -> [(name: String, value: String)] {
        guard let start, count >= 4 else { return [] }
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        guard let layout = layouts[bytes.loadUnaligned(as: UInt32.self)] else { return [] }
        var reader = ArgumentReader(bytes: UnsafeRawBufferPointer(rebasing: bytes[4...]))
        var rest = layout.values[...], values: [(name: String, value: String)] = []
        while let value = rest.popFirst() { values.append((value.name, Self.text(of: value, &rest, &reader))) }
        return values
    }

    /// A value as text, with the members of a structure, which come next.
    private static func text(
        of value: ArgumentLayout.Value, _ rest: inout ArraySlice<ArgumentLayout.Value>, _ reader: inout ArgumentReader
    ) -> String {
        guard case .structure(let count) = value.kind else { return reader.next(value.kind) }
        var members = rest.prefix(count), texts: [String] = []
        rest = rest.dropFirst(count)
        while let member = members.popFirst() {
            let name = member.name.dropFirst(value.name.utf8.count + 1)
            texts.append("\(name)=\(text(of: member, &members, &reader))")
        }
        return "{" + texts.joined(separator: ", ") + "}"
    }

    /// Whether all comparisons hold. Of arguments that are not there, none does.
    public func fulfil(_ comparisons: [ArgumentComparison], by layouts: [UInt32: ArgumentLayout]) -> Bool {
        guard let start, count >= 4 else { return false }
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        guard let layout = layouts[bytes.loadUnaligned(as: UInt32.self)] else { return false }
        var reader = ArgumentReader(bytes: UnsafeRawBufferPointer(rebasing: bytes[4...]))
        var held: Set<ArgumentComparison> = []
        for value in layout.values {
            let found = reader.raw(value.kind)
            for comparison in comparisons where comparison.name == value.name {
                guard let test = comparison.test(of: value.kind) else { continue }
                guard let found, test.holds(how: found.how, found.bytes) else { return false }
                held.insert(comparison)
            }
        }
        return comparisons.allSatisfy(held.contains)
    }
}

/// Reads values one after the other. What is cut off counts as left out.
private struct ArgumentReader {
    /// What is shown of a value that is not there.
    static let missing = "<left out>"

    var bytes: UnsafeRawBufferPointer

    mutating func next(_ kind: ArgumentLayout.Kind) -> String {
        switch kind {
        case .optimizedOut: return "<optimized out>"
        case .unknown(let reason): return "<unknown: \(reason)>"
        case .aggregate: return "{…}"
        default: break
        }
        guard let how = take(1)?.first else { return Self.missing }
        switch UInt32(how) {
        case FATHOM_VALUE: return value(kind) ?? Self.missing
        case FATHOM_VALUE_TEXT, FATHOM_VALUE_CUT:
            guard let size = take(2)?.loadUnaligned(as: UInt16.self), let text = take(Int(size)) else {
                return Self.missing
            }
            if case .wideText(let unit) = kind { return Self.wide(text, unit, isCut: UInt32(how) == FATHOM_VALUE_CUT) }
            return Self.quoted(text, isCut: UInt32(how) == FATHOM_VALUE_CUT)
        case FATHOM_VALUE_UNREADABLE: return "<unreadable>"
        case FATHOM_VALUE_NULL: return "null"
        default: return Self.missing
        }
    }

    /// How the next value is recorded, and its bytes; nil when it is not recorded.
    mutating func raw(_ kind: ArgumentLayout.Kind) -> (how: UInt32, bytes: UnsafeRawBufferPointer)? {
        switch kind {
        case .optimizedOut, .unknown, .structure, .aggregate: return nil
        default: break
        }
        guard let how = take(1)?.first.map(UInt32.init) else { return nil }
        switch how {
        case FATHOM_VALUE: return take(kind.size).map { (how, $0) }
        case FATHOM_VALUE_TEXT, FATHOM_VALUE_CUT:
            return take(2).flatMap { take(Int($0.loadUnaligned(as: UInt16.self))) }.map { (how, $0) }
        default: return (how, UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    private mutating func take(_ size: Int) -> UnsafeRawBufferPointer? {
        guard size <= bytes.count else { return nil }
        defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[size...]) }
        return UnsafeRawBufferPointer(rebasing: bytes[..<size])
    }

    private mutating func value(_ kind: ArgumentLayout.Kind) -> String? {
        switch kind {
        case .signed(let size): return take(size).map { size > 8 ? Self.hexadecimal($0) : String(Self.signed($0)) }
        case .unsigned(let size): return take(size).map { size > 8 ? Self.hexadecimal($0) : String(Self.unsigned($0)) }
        case .bool(let size):
            return take(size).map { bytes in
                let value = Self.unsigned(bytes)
                return value > 1 ? String(value) : value == 1 ? "true" : "false"
            }
        case .character(let size): return take(size).map { Self.character(Self.unsigned($0)) }
        case .floating(let size): return take(size).map(Self.floating)
        case .pointer(let size):
            return take(size).map { bytes in
                bytes.allSatisfy { $0 == 0 } ? "null" : Self.hexadecimal(bytes)
            }
        case .number(let size, let radix):
            return take(size).map { bytes in
                let value = Self.unsigned(bytes)
                return (value == 0 ? "" : radix == 8 ? "0" : "0x") + String(value, radix: radix)
            }
        case .text: return take(kind.size).map(Self.hexadecimal)
        case .enumeration(let size, let isSigned, let cases):
            return take(size).map { bytes in
                let value = isSigned ? Self.signed(bytes) : Int64(bitPattern: Self.unsigned(bytes))
                return cases[value] ?? Self.flags(value, cases) ?? String(value)
            }
        case .wideText, .structure, .optimizedOut, .unknown, .aggregate: return nil
        }
    }

    // MARK: Numbers

    private static func unsigned(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func signed(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        let unused = UInt64(64 - 8 * min(bytes.count, 8))
        return Int64(bitPattern: unsigned(bytes) << unused) >> Int64(unused)
    }

    private static func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
        let digits = bytes.reversed().map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
        let significant = digits.drop { $0 == "0" }
        return "0x" + (significant.isEmpty ? "0" : significant)
    }

    private static func floating(_ bytes: UnsafeRawBufferPointer) -> String {
        switch bytes.count {
        case 4: return "\(bytes.loadUnaligned(as: Float.self))"
        case 8: return "\(bytes.loadUnaligned(as: Double.self))"
        default:
            #if arch(x86_64)
                if bytes.count == 10 {
                    let exponent = bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
                    let significand = bytes.loadUnaligned(as: UInt64.self)
                    let number = Float80(
                        sign: exponent >> 15 == 0 ? .plus : .minus, exponentBitPattern: UInt(exponent & 0x7fff),
                        significandBitPattern: significand)
                    return "\(number)"
                }
            #endif
            return hexadecimal(bytes)
        }
    }

    /// The names of bits that make up a value; nil when some bit has no name.
    private static func flags(_ value: Int64, _ cases: [Int64: String]) -> String? {
        var (rest, names) = (value, [String]())
        for (bit, name) in cases.sorted(by: { UInt64(bitPattern: $0.key) < UInt64(bitPattern: $1.key) })
        where bit.nonzeroBitCount == 1 && rest & bit != 0 {
            names.append(name)
            rest &= ~bit
        }
        return rest == 0 && names.count > 1 ? names.joined(separator: "|") : nil
    }

    // MARK: Texts

    private static func character(_ value: UInt64) -> String {
        guard let scalar = Unicode.Scalar(UInt32(truncatingIfNeeded: value)), value < 0x80 || value > 0xff else {
            return "'\\x\(String(value, radix: 16))'"
        }
        return scalar == "'" ? "'\\''" : "'\(escaped(scalar, quote: "'"))'"
    }

    /// As a string in C, so that any bytes can be told apart; an ellipsis says that it goes on.
    private static func quoted(_ bytes: UnsafeRawBufferPointer, isCut: Bool) -> String {
        var result = "\""
        var rest = bytes[...]
        while let byte = rest.first {
            var decoder = UTF8()
            var iterator = rest.prefix(4).makeIterator()
            if case .scalarValue(let scalar) = decoder.decode(&iterator) {
                result += escaped(scalar, quote: "\"")
                rest = rest.dropFirst(UTF8.encode(scalar)!.count)
            } else {
                // The cut may have gone through a character.
                if isCut, rest.count < 4, byte >= 0xc0 { break }
                result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                rest = rest.dropFirst()
            }
        }
        return result + (isCut ? "…\"" : "\"")
    }

    /// A text of characters of 2 or 4 bytes, in the same way.
    private static func wide(_ bytes: UnsafeRawBufferPointer, _ unit: Int, isCut: Bool) -> String {
        let units = stride(from: 0, to: bytes.count / unit * unit, by: unit).map { offset in
            unsigned(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + unit]))
        }
        let text =
            unit == 2
            ? String(decoding: units.map { UInt16($0) }, as: UTF16.self)
            : String(String.UnicodeScalarView(units.map { Unicode.Scalar(UInt32($0)) ?? "\u{fffd}" }))
        return "\"" + text.unicodeScalars.map { escaped($0, quote: "\"") }.joined() + (isCut ? "…\"" : "\"")
    }

    private static func escaped(_ scalar: Unicode.Scalar, quote: Unicode.Scalar) -> String {
        switch scalar {
        case quote, "\\": return "\\\(scalar)"
        case "\n": return "\\n"
        case "\t": return "\\t"
        case "\r": return "\\r"
        case "\0": return "\\0"
        default:
            if scalar.value < 0x20 || scalar.value == 0x7f {
                return "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            }
            return String(scalar).visible == String(scalar)
                ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
}
