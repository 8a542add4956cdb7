/// A protobuf message under construction (https://protobuf.dev/programming-guides/encoding/).
struct ProtobufMessage {
    private(set) var bytes: [UInt8] = []

    /// Empties the message and keeps its memory.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    mutating func add(_ field: UInt64, _ value: UInt64) {
        varint(field << 3)
        varint(value)
    }

    mutating func add(_ field: UInt64, _ text: String) {
        varint(field << 3 | 2)
        varint(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ field: UInt64, _ message: ProtobufMessage) {
        varint(field << 3 | 2)
        varint(UInt64(message.bytes.count))
        bytes.append(contentsOf: message.bytes)
    }

    mutating func add(_ field: UInt64, double value: Double) {
        varint(field << 3 | 1)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds the fields of `other`.
    mutating func append(_ other: ProtobufMessage) { bytes += other.bytes }

    mutating func add(_ field: UInt64, fixed value: UInt64) {
        varint(field << 3 | 1)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ field: UInt64, bytes value: [UInt8]) {
        varint(field << 3 | 2)
        varint(UInt64(value.count))
        bytes += value
    }

    /// Adds a packed repeated field.
    mutating func add(_ field: UInt64, packed values: some Sequence<UInt64>) {
        var content = ProtobufMessage()
        for value in values { content.varint(value) }
        add(field, content)
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
