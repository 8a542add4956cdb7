/// A JSON value. Numbers keep their digits.
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// Whether it is a word or a number, which stands in JSON without quotes.
    var isBare: Bool {
        switch self {
        case .null, .bool, .number: true
        case .string, .array, .object: false
        }
    }

    /// The value as plain text: strings unquoted, arrays joined by spaces.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): text
        case .array(let values): values.map(\.text).joined(separator: " ")
        case .object(let members): members.map { "\($0.name)=\($0.value.text)" }.joined(separator: " ")
        }
    }
}
