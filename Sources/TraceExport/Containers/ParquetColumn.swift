/// A column of a Parquet file: its name, what its values are, and how many of them a row has.
struct ParquetColumn {
    enum Kind {
        case integer
        /// µs since 1970, in UTC.
        case moment
        /// Text that is seldom the same in two rows.
        case text
        /// Text out of few: the words come first, and rows have their numbers.
        case word

        /// Physical type.
        var type: Int32 { isText ? 6 : 2 }
        var isText: Bool { self == .text || self == .word }
    }

    enum Presence { case one, oneOrNone, any }

    let name: String
    let kind: Kind
    var presence = Presence.one
    /// Names from the root of the schema to the column.
    fileprivate(set) var path: [String] = []

    private init(_ name: String, _ kind: Kind) {
        (self.name, self.kind) = (name, kind)
        path = [name]
    }

    static func integer(_ name: String) -> ParquetColumn { ParquetColumn(name, .integer) }
    static func moment(_ name: String) -> ParquetColumn { ParquetColumn(name, .moment) }
    static func text(_ name: String) -> ParquetColumn { ParquetColumn(name, .text) }
    static func word(_ name: String) -> ParquetColumn { ParquetColumn(name, .word) }

    var optional: ParquetColumn {
        var column = self
        column.presence = .oneOrNone
        return column
    }

    fileprivate func inList(_ list: [String]) -> ParquetColumn {
        var column = self
        column.presence = .any
        column.path = list + [name]
        return column
    }

    var schema: ThriftStruct {
        var element = ThriftStruct()
        element.add(1, int32: kind.type)
        element.add(3, int32: presence == .oneOrNone ? 1 : 0)  // optional or required
        element.add(4, name)
        switch kind {
        case .text, .word: element.add(6, int32: 0)  // UTF-8
        case .moment: element.add(6, int32: 10)  // TIMESTAMP_MICROS
        case .integer: break
        }
        return element
    }
}

/// What a row has under one name: a value, or several
/// (https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#nested-types).
enum ParquetField {
    case value(ParquetColumn)
    /// A list of values.
    case list(String, ParquetColumn.Kind)
    /// A list of records, whose parts are columns.
    case records(String, [ParquetColumn])
    /// Texts by names, which are words.
    case map(String)

    /// The columns, in order.
    var columns: [ParquetColumn] {
        switch self {
        case .value(let column): [column]
        case .list(let name, let kind): [ParquetField.element(kind).inList([name, "list"])]
        case .records(let name, let parts): parts.map { $0.inList([name, "list", "element"]) }
        case .map(let name): ParquetField.pair.map { $0.inList([name, "key_value"]) }
        }
    }

    private static let pair = [ParquetColumn.word("key"), ParquetColumn.word("value")]

    private static func element(_ kind: ParquetColumn.Kind) -> ParquetColumn {
        switch kind {
        case .integer: .integer("element")
        case .moment: .moment("element")
        case .text: .text("element")
        case .word: .word("element")
        }
    }

    /// Its elements of the file's schema, each before its parts.
    var schema: [ThriftStruct] {
        switch self {
        case .value(let column): [column.schema]
        case .list(let name, let kind):
            [
                group(name, children: 1, convertedType: 3), group("list", children: 1, isRepeated: true),
                ParquetField.element(kind).schema,
            ]
        case .records(let name, let parts):
            [
                group(name, children: 1, convertedType: 3), group("list", children: 1, isRepeated: true),
                group("element", children: parts.count),
            ] + parts.map(\.schema)
        case .map(let name):
            [group(name, children: 1, convertedType: 1), group("key_value", children: 2, isRepeated: true)]
                + ParquetField.pair.map(\.schema)
        }
    }

    private func group(_ name: String, children: Int, isRepeated: Bool = false, convertedType: Int32? = nil)
        -> ThriftStruct
    {
        var element = ThriftStruct()
        element.add(3, int32: isRepeated ? 2 : 0)
        element.add(4, name)
        element.add(5, int32: Int32(children))
        if let convertedType { element.add(6, int32: convertedType) }
        return element
    }
}
