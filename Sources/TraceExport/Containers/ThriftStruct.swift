internal import TraceText

/// A struct under construction in Thrift's compact protocol
/// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Fields are added by ascending id.
struct ThriftStruct {
    /// The kinds of fields, by their codes.
    private enum Kind {
        static let (int32, int64, binary, list, structure) = (UInt8(5), UInt8(6), UInt8(8), UInt8(9), UInt8(12))
    }

    private var content: [UInt8] = []
    private var lastID: UInt8 = 0

    /// The whole struct.
    var bytes: [UInt8] { content + [0] }

    mutating func add(_ id: UInt8, int32 value: Int32) {
        begin(id, Kind.int32)
        content.append(zigzag: Int64(value))
    }

    mutating func add(_ id: UInt8, int64 value: Int) {
        begin(id, Kind.int64)
        content.append(zigzag: Int64(value))
    }

    mutating func add(_ id: UInt8, _ text: String) {
        begin(id, Kind.binary)
        content.append(counted: text.utf8)
    }

    mutating func add(_ id: UInt8, bytes: [UInt8]) {
        begin(id, Kind.binary)
        content.append(counted: bytes)
    }

    mutating func add(_ id: UInt8, _ value: ThriftStruct) {
        begin(id, Kind.structure)
        content += value.bytes
    }

    mutating func add(_ id: UInt8, list values: [ThriftStruct]) {
        beginList(id, values.count, of: Kind.structure)
        for value in values { content += value.bytes }
    }

    mutating func add(_ id: UInt8, list values: [Int32]) {
        beginList(id, values.count, of: Kind.int32)
        for value in values { content.append(zigzag: Int64(value)) }
    }

    mutating func add(_ id: UInt8, list values: [String]) {
        beginList(id, values.count, of: Kind.binary)
        for value in values { content.append(counted: value.utf8) }
    }

    private mutating func begin(_ id: UInt8, _ kind: UInt8) {
        content.append((id - lastID) << 4 | kind)
        lastID = id
    }

    private mutating func beginList(_ id: UInt8, _ count: Int, of kind: UInt8) {
        begin(id, Kind.list)
        if count < 15 {
            content.append(UInt8(count) << 4 | kind)
        } else {
            content.append(0xf0 | kind)
            content.append(leb128: UInt64(count))
        }
    }
}
