internal import TraceText

/// Writes a Parquet file (https://parquet.apache.org/docs/file-format/). All columns are required, in plain encoding
/// and not compressed.
struct ParquetFile {
    enum Kind {
        case integer
        case text

        /// Physical type.
        fileprivate var type: Int32 { self == .integer ? 2 : 6 }
    }

    /// Values of one column, encoded.
    struct Column {
        fileprivate var bytes: [UInt8] = []

        mutating func add(_ value: Int64) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func add(_ text: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt32(text.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text)
        }
    }

    private let writer: ByteWriter
    private let columns: [(name: String, kind: Kind)]
    private var offset = 0
    private var rows = 0
    private var groups: [ThriftStruct] = []

    init(_ writer: ByteWriter, columns: [(name: String, kind: Kind)]) {
        self.writer = writer
        self.columns = columns
        write(ParquetFile.magic)
    }

    private static let magic = Array("PAR1".utf8)

    /// Writes `count` rows, given as columns in the order of the file's.
    mutating func write(group values: [Column], rows count: Int) {
        var chunks: [ThriftStruct] = []
        let groupStart = offset
        for (column, values) in zip(columns, values) {
            let start = offset
            write(page(of: values, count).bytes)
            write(values.bytes)
            var metadata = ThriftStruct()
            metadata.add(1, int32: column.kind.type)
            metadata.add(2, list: [Int32(0)])  // encodings: plain
            metadata.add(3, list: [column.name])
            metadata.add(4, int32: 0)  // codec: none
            metadata.add(5, int64: count)
            metadata.add(6, int64: offset - start)
            metadata.add(7, int64: offset - start)
            metadata.add(9, int64: start)
            var chunk = ThriftStruct()
            chunk.add(2, int64: start)
            chunk.add(3, metadata)
            chunks.append(chunk)
        }
        var group = ThriftStruct()
        group.add(1, list: chunks)
        group.add(2, int64: offset - groupStart)
        group.add(3, int64: count)
        groups.append(group)
        rows += count
    }

    /// Writes the end of the file, which readers begin with.
    mutating func finish() {
        var root = ThriftStruct()
        root.add(4, "schema")
        root.add(5, int32: Int32(columns.count))
        var metadata = ThriftStruct()
        metadata.add(1, int32: 1)
        metadata.add(2, list: [root] + columns.map(schema))
        metadata.add(3, int64: rows)
        metadata.add(4, list: groups)
        metadata.add(6, "fathom")
        let bytes = metadata.bytes
        write(bytes)
        withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { writer.write($0) }
        write(ParquetFile.magic)
    }

    private func schema(_ column: (name: String, kind: Kind)) -> ThriftStruct {
        var element = ThriftStruct()
        element.add(1, int32: column.kind.type)
        element.add(3, int32: 0)  // required
        element.add(4, column.name)
        if column.kind == .text { element.add(6, int32: 0) }  // UTF-8
        return element
    }

    private func page(of values: Column, _ count: Int) -> ThriftStruct {
        var data = ThriftStruct()
        data.add(1, int32: Int32(count))
        data.add(2, int32: 0)  // plain
        data.add(3, int32: 3)  // run lengths, for levels, of which there are none
        data.add(4, int32: 3)
        var header = ThriftStruct()
        header.add(1, int32: 0)  // a data page
        header.add(2, int32: Int32(values.bytes.count))
        header.add(3, int32: Int32(values.bytes.count))
        header.add(5, data)
        return header
    }

    private mutating func write(_ bytes: [UInt8]) {
        writer.write(bytes)
        offset += bytes.count
    }
}
