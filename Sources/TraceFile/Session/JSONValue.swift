/// A JSON value. Numbers keep their digits.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// Whether it is a word or a number, which stands in JSON without quotes.
    package var isBare: Bool {
        switch self {
        case .null, .bool, .number: true
        case .string, .array, .object: false
        }
    }

    /// The value as plain text: strings unquoted, arrays joined by spaces.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): text
        case .array(let values): values.map(\.text).joined(separator: " ")
        case .object(let members): members.map { "\($0.name)=\($0.value.text)" }.joined(separator: " ")
        }
    }

    /// The value of a member; nil where there is none of that name, or this is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The elements of an array; none of anything else.
    package var elements: [JSONValue] {
        if case .array(let values) = self { return values }
        return []
    }

    /// The text of a string.
    package var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// A number without sign or fraction.
    package var unsigned: UInt64? {
        if case .number(let digits) = self { return UInt64(digits) }
        return nil
    }
}
