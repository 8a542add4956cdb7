public import TraceAnalysis
internal import TraceFile

/// A trigger as people write it: `FUNC@start,mark,depth=2`. The pattern of functions may have an `@` as well.
public struct TriggerText {
    public let pattern: String
    /// Whether the function's calls are left out, but not what they call.
    public private(set) var hides = false
    private(set) var trigger = FunctionRule.Trigger()

    /// Why a text is no trigger.
    public struct Invalid: Error, CustomStringConvertible { public let description: String }

    private static let actions =
        "trace, hide, depth=N and min-cost=TIME are and, while recording, start, stop, save (or flight) and mark"

    init(_ text: String) throws {
        guard let at = text.lastIndex(of: "@"), at > text.startIndex else {
            throw Invalid(description: "a trigger is FUNC@ACTION, as in 'parse@trace'")
        }
        pattern = String(text[..<at])
        for action in text[text.index(after: at)...].split(separator: ",", omittingEmptySubsequences: false) {
            try add(action)
        }
    }

    /// A trigger of a recording that was made.
    ///
    /// - Throws: ``Invalid`` or ``TimeSpan/InvalidText``, each described by a line.
    public init(reading text: String) throws {
        try self.init(text)
        if !trigger.actions.isDisjoint(with: [.start, .stop, .save, .mark]) {
            throw Invalid(
                description:
                    "start, stop, save and mark are for fathom record --trigger: what was recorded stays as it is")
        }
        if trigger.actions.contains(.depth), trigger.levels > CallTrigger.deepest {
            throw Invalid(description: "depth= is \(CallTrigger.deepest) levels at most")
        }
    }

    /// The limits that it sets for calls of `function`, which may be no more than that they are shown; nil: it only hides them.
    public func limits(of function: Pattern) -> CallTrigger? {
        if trigger.actions.isEmpty { return nil }
        return CallTrigger(
            function, levels: trigger.actions.contains(.depth) ? trigger.levels : nil,
            minCost: trigger.actions.contains(.minCost) ? trigger.minCost : nil)
    }

    private mutating func add(_ action: Substring) throws {
        let parts = action.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts[0], parts.count) {
        case ("start", 1): trigger.actions.insert(.start)
        case ("stop", 1): trigger.actions.insert(.stop)
        case ("save", 1), ("flight", 1): trigger.actions.insert(.save)
        case ("mark", 1): trigger.actions.insert(.mark)
        case ("trace", 1): trigger.actions.insert(.keep)
        case ("hide", 1): hides = true
        case ("depth", 2):
            guard let levels = UInt32(parts[1]) else { throw Invalid(description: "depth= takes a number of levels") }
            trigger.actions.insert(.depth)
            trigger.levels = levels
        case ("min-cost", 2):
            trigger.actions.insert(.minCost)
            trigger.minCost = try TimeSpan(parts[1]).nanoseconds
        default: throw Invalid(description: "'\(action)' is no action of a trigger: \(Self.actions)")
        }
    }
}
