internal import TraceText

/// Writes a Parquet file (https://parquet.apache.org/docs/file-format/). Pages are compressed by gzip, words stand in
/// dictionaries, and each group of rows tells the least and greatest value of its columns that are no lists, so that readers may
/// pass it over.
struct ParquetFile {
    private let writer: ByteWriter
    private let fields: [ParquetField]
    private let columns: [ParquetColumn]
    /// The words of all columns.
    var words = NumberedTexts()
    private var values: [ParquetValues]
    /// How many columns have their value of the row that is being made.
    private var filled = 0
    private var offset = 0
    private(set) var rows = 0
    /// Rows of the group that is being made.
    private var pending = 0
    private var groups: [ThriftStruct] = []

    /// A group of rows is written when it has this many rows, or a column this many bytes or entries, because pages must be
    /// under 2 GiB.
    private static let groupRows = 1 << 16
    private static let groupBytes = 1 << 26
    private static let groupEntries = 1 << 24

    /// Numbers of the format.
    private enum Encoding { static let (plain, runLength, dictionary) = (Int32(0), Int32(3), Int32(8)) }
    private enum Page { static let (data, dictionary) = (Int32(0), Int32(2)) }
    private static let gzip: Int32 = 2

    init(_ writer: ByteWriter, columns: [ParquetColumn]) {
        self.init(writer, fields: columns.map(ParquetField.value))
    }

    init(_ writer: ByteWriter, fields: [ParquetField]) {
        self.writer = writer
        self.fields = fields
        columns = fields.flatMap(\.columns)
        values = Array(repeating: ParquetValues(), count: columns.count)
        write(ParquetFile.magic)
    }

    private static let magic = Array("PAR1".utf8)

    /// Each of these gives the next column its value.
    mutating func add(_ value: UInt64) { add { $0.add(Int64(clamping: value)) } }
    mutating func add(signed value: Int) { add { $0.add(Int64(value)) } }
    mutating func add(text: [UInt8]) { add { $0.add(text: text) } }
    mutating func add(word: UInt32) { add { $0.add(word: word) } }

    /// Each of these gives the next column, in which a value may lack, its value or none.
    mutating func add(optional value: Int64?) {
        add { values in
            values.note(isThere: value != nil)
            if let value { values.add(value) }
        }
    }
    mutating func add(optionalWord word: UInt32?) {
        add { values in
            values.note(isThere: word != nil)
            if let word { values.add(word: word) }
        }
    }

    /// Each of these gives the next column, which is of a list, its values. The columns of a list of records get as many each.
    mutating func add(list: some Collection<Int64>) {
        add { values in
            values.note(values: list.count)
            for value in list { values.add(value) }
        }
    }
    mutating func add(words: some Collection<UInt32>) {
        add { values in
            values.note(values: words.count)
            for word in words { values.add(word: word) }
        }
    }

    private mutating func add(_ give: (inout ParquetValues) -> Void) {
        give(&values[filled])
        filled += 1
    }

    /// Ends the row, of which every column has its value now.
    mutating func endRow() {
        precondition(filled == columns.count, "a row has a value for each column")
        filled = 0
        rows += 1
        pending += 1
        let isLong = values.contains {
            $0.plain.count > ParquetFile.groupBytes || $0.entries > ParquetFile.groupEntries
        }
        if pending == ParquetFile.groupRows || isLong { writeGroup() }
    }

    private mutating func writeGroup() {
        guard pending > 0 else { return }
        var chunks: [ThriftStruct] = []
        let groupStart = offset
        var groupSize = 0
        for index in columns.indices {
            let chunkStart = offset
            let count = values[index].entries
            var size = 0
            var encodings = [Encoding.plain, Encoding.runLength]
            var dictionaryStart: Int?
            var data = values[index].plain
            if columns[index].kind == .word {
                let (dictionary, words, rows) = values[index].encodeWords(self.words)
                dictionaryStart = offset
                var header = ThriftStruct()
                header.add(1, int32: Int32(words))
                header.add(2, int32: Encoding.plain)
                size += write(page: dictionary, Page.dictionary, header: (7, header))
                data = rows
                encodings.append(Encoding.dictionary)
            }
            let dataStart = offset
            var header = ThriftStruct()
            header.add(1, int32: Int32(count))
            header.add(2, int32: dictionaryStart == nil ? Encoding.plain : Encoding.dictionary)
            header.add(3, int32: Encoding.runLength)  // of levels
            header.add(4, int32: Encoding.runLength)
            let levels = values[index].levels(columns[index].presence)
            size += write(page: levels.isEmpty ? data : levels + data, Page.data, header: (5, header))
            var metadata = ThriftStruct()
            metadata.add(1, int32: columns[index].kind.type)
            metadata.add(2, list: encodings)
            metadata.add(3, list: columns[index].path)
            metadata.add(4, int32: ParquetFile.gzip)
            metadata.add(5, int64: count)
            metadata.add(6, int64: size)
            metadata.add(7, int64: offset - chunkStart)
            metadata.add(9, int64: dataStart)
            if let dictionaryStart { metadata.add(11, int64: dictionaryStart) }
            if columns[index].presence != .any, let bounds = values[index].bounds {
                var statistics = ThriftStruct()
                statistics.add(3, int64: count - values[index].count)  // nulls
                statistics.add(5, bytes: bounds.greatest)
                statistics.add(6, bytes: bounds.least)
                metadata.add(12, statistics)
            }
            var chunk = ThriftStruct()
            chunk.add(2, int64: chunkStart)
            chunk.add(3, metadata)
            chunks.append(chunk)
            groupSize += size
            values[index].removeAll()
        }
        var group = ThriftStruct()
        group.add(1, list: chunks)
        group.add(2, int64: groupSize)
        group.add(3, int64: pending)
        group.add(6, int64: offset - groupStart)
        groups.append(group)
        pending = 0
    }

    /// Writes the end of the file, which readers begin with.
    mutating func finish() {
        writeGroup()
        var root = ThriftStruct()
        root.add(4, "schema")
        root.add(5, int32: Int32(fields.count))
        var metadata = ThriftStruct()
        metadata.add(1, int32: 1)
        metadata.add(2, list: [root] + fields.flatMap(\.schema))
        metadata.add(3, int64: rows)
        metadata.add(4, list: groups)
        metadata.add(6, "fathom")
        // Values are ordered as their types are: without this, readers use no bounds.
        var order = ThriftStruct()
        order.add(1, ThriftStruct())
        metadata.add(7, list: columns.map { _ in order })
        let bytes = metadata.bytes
        write(bytes)
        withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { writer.write($0) }
        write(ParquetFile.magic)
    }

    /// Writes a page; returns its size, header included, as if it was not compressed.
    private mutating func write(page bytes: [UInt8], _ type: Int32, header own: (id: UInt8, ThriftStruct)) -> Int {
        let compressed = GzipWriter.member(of: bytes)
        var header = ThriftStruct()
        header.add(1, int32: type)
        header.add(2, int32: Int32(bytes.count))
        header.add(3, int32: Int32(compressed.count))
        header.add(own.id, own.1)
        let headerBytes = header.bytes
        write(headerBytes)
        write(compressed)
        return headerBytes.count + bytes.count
    }

    private mutating func write(_ bytes: [UInt8]) {
        writer.write(bytes)
        offset += bytes.count
    }
}
