internal import CTraceFormat

/// What record options say of functions, by the patterns of their names as they were written.
public struct FunctionOptions: Sendable {
    public var only: [String] = []
    public var without: [String] = []
    public var hidden: [String] = []
    public var leadingTo: [String] = []
    /// Patterns of the files and folders that functions are defined in.
    public var places: [String] = []
    /// Their calls are recorded with those that lead to them, and with this many levels below.
    public var watched: [String] = []
    public var watchedLevels: UInt32 = 0
    /// All other calls are recorded, too, so that the watched ones only stand out when they are shown.
    public var watchesAll = false
    /// A pattern, `@` and what happens, as in `parse@mark`.
    public var triggers: [String] = []
    /// Functions whose arguments are recorded: a pattern, and behind a colon the arguments, unless all are.
    public var arguments: [String] = []
    /// Patterns of functions whose results are recorded.
    public var results: [String] = []
    /// Conditions on arguments, of which the recorder hears.
    public var conditions: [FunctionCondition] = []
    /// The bytes of an argument's text that are recorded.
    public var textLimit = FunctionOptions.defaultTextLimit

    public static let defaultTextLimit: UInt32 = 64
    public static let textLimits: ClosedRange<UInt32> = 1...UInt32(FATHOM_TEXT_LIMIT)

    public init() {}

    public var isEmpty: Bool {
        only.isEmpty && without.isEmpty && hidden.isEmpty && leadingTo.isEmpty && places.isEmpty && triggers.isEmpty
            && arguments.isEmpty
            && results.isEmpty && conditions.isEmpty && (watched.isEmpty || watchesAll)
    }

    /// Those that were given, by the names that session.json and `fathom info` give them, with their values as JSON.
    var members: [(name: RecordOptions.Name, value: String)] {
        let all: [(name: RecordOptions.Name, patterns: [String])] = [
            (.filter, only), (.notrace, without), (.callerFilter, leadingTo), (.hide, hidden), (.places, places),
            (.trigger, triggers), (.watch, watched), (.arguments, arguments),
            (.returns, results), (.when, conditions.map(\.text)),
        ]
        var members: [(name: RecordOptions.Name, value: String)] = []
        for (name, patterns) in all where !patterns.isEmpty {
            members.append((name, "[\(patterns.map { SessionDescription.quoted($0) }.joined(separator: ", "))]"))
        }
        if watched.isEmpty { return members }
        return members + [(.relativeDepth, "\(watchedLevels)"), (.complete, "\(watchesAll)")]
    }
}
