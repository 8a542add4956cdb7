internal import TraceText

/// A protobuf message under construction (https://protobuf.dev/programming-guides/encoding/).
struct ProtobufMessage {
    private(set) var bytes: [UInt8] = []

    /// Empties the message and keeps its memory.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    mutating func add(_ field: UInt64, _ value: UInt64) {
        bytes.append(leb128: field << 3)
        bytes.append(leb128: value)
    }

    mutating func add(_ field: UInt64, _ text: String) {
        bytes.append(leb128: field << 3 | 2)
        bytes.append(counted: text.utf8)
    }

    mutating func add(_ field: UInt64, _ message: ProtobufMessage) {
        bytes.append(leb128: field << 3 | 2)
        bytes.append(counted: message.bytes)
    }

    mutating func add(_ field: UInt64, double value: Double) {
        bytes.append(leb128: field << 3 | 1)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds the fields of `other`.
    mutating func append(_ other: ProtobufMessage) { bytes += other.bytes }

    mutating func add(_ field: UInt64, fixed value: UInt64) {
        bytes.append(leb128: field << 3 | 1)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ field: UInt64, bytes value: [UInt8]) {
        bytes.append(leb128: field << 3 | 2)
        bytes.append(counted: value)
    }

    /// Adds a packed repeated field.
    mutating func add(_ field: UInt64, packed values: some Sequence<UInt64>) {
        var content = ProtobufMessage()
        for value in values { content.bytes.append(leb128: value) }
        add(field, content)
    }
}
