import Testing

/// Reads protobuf messages field by field: the tests' own statement of the encoding.
struct ProtobufReader: Sequence, IteratorProtocol {
    enum Value {
        case number(UInt64)
        case bytes([UInt8])
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func next() -> (field: Int, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let key = varint()
        switch key & 7 {
        case 0: return (Int(key >> 3), .number(varint()))
        case 2:
            let count = Int(clamping: varint())
            defer { rest = rest.dropFirst(count) }
            return (Int(key >> 3), .bytes(Array(rest.prefix(count))))
        default:
            Issue.record("field \(key >> 3) is of kind \(key & 7), which no exporter writes")
            rest = []
            return nil
        }
    }

    /// All numbers of `field`.
    static func numbers(_ field: Int, of bytes: [UInt8]) -> [UInt64] {
        ProtobufReader(bytes).compactMap { entry in
            if entry.field == field, case .number(let number) = entry.value { number } else { nil }
        }
    }

    /// All messages or strings of `field`.
    static func messages(_ field: Int, of bytes: [UInt8]) -> [[UInt8]] {
        ProtobufReader(bytes).compactMap { entry in
            if entry.field == field, case .bytes(let bytes) = entry.value { bytes } else { nil }
        }
    }

    /// The numbers of a packed field.
    static func packed(_ bytes: [UInt8]) -> [UInt64] {
        var reader = ProtobufReader(bytes)
        var result: [UInt64] = []
        while !reader.rest.isEmpty { result.append(reader.varint()) }
        return result
    }

    private mutating func varint() -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = rest.popFirst() {
            result |= UInt64(byte & 0x7f) << shift
            shift += 7
            if byte < 0x80 { break }
        }
        return result
    }
}
