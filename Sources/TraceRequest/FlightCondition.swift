public import TraceAnalysis
public import TraceFile
internal import TraceSymbols

/// What `--when` takes: a function, and how long its call is, or what its arguments are, when what led to it is to be saved.
public struct FlightCondition {
    public enum Limit: Equatable, Sendable {
        /// In ns.
        case time(UInt64)
        /// So many times what 50, 90 or 99 of 100 calls do not exceed.
        case percentile(Int, times: Double)
    }

    public let function: Pattern
    /// As `function` was written.
    public let pattern: String
    /// What is asked of the arguments.
    public let comparisons: [ArgumentComparison]
    public let limit: Limit
    public let text: String

    /// Why a text is no condition.
    private struct InvalidText: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads `FUNC>TIME` or `FUNC>p99*3`. The last `>` counts, because names of operators and templates have some, too.
    /// Or `FUNC(name=="value", ...)`, with or without `>TIME` behind it.
    ///
    /// - Throws: an error that is described by a line.
    public init(_ text: String) throws {
        self.text = text
        if let found = try Self.onArguments(text) {
            (pattern, comparisons, limit) = found
            function = try Pattern(pattern)
            return
        }
        comparisons = []
        guard let sign = text.lastIndex(of: ">"), sign > text.startIndex else {
            throw InvalidText(
                description:
                    "a condition is a function and a limit, as 'handle>200ms' or 'handle>p99*3', or arguments, as 'handle(path==\"/slow\")'"
            )
        }
        pattern = String(text[..<sign]).trimmed
        function = try Pattern(pattern)
        limit = try Self.limit(String(text[text.index(after: sign)...]).trimmed)
    }

    /// Whether a call has to take some time.
    public var hasLimit: Bool { limit != .time(0) }

    /// The first parenthesis with comparisons up to its end counts, because functions' names may have some, too.
    private static func onArguments(_ text: String) throws -> (String, [ArgumentComparison], Limit)? {
        for start in text.indices where text[start] == "(" && start > text.startIndex {
            guard let (comparisons, behind) = ArgumentComparison.list(text[text.index(after: start)...]),
                comparisons.allSatisfy({ ArgumentPath($0.name) != nil })
            else { continue }
            let rest = behind.trimmed, name = text[..<start].trimmed
            if rest.isEmpty { return (name, comparisons, .time(0)) }
            guard rest.first == ">" else { continue }
            let limit = try limit(rest.dropFirst().trimmed)
            guard case .time = limit else {
                throw InvalidText(description: "'\(rest.dropFirst())': a condition on arguments takes a time, as 200ms")
            }
            return (name, comparisons, limit)
        }
        return nil
    }

    private static func limit(_ text: String) throws -> Limit {
        guard text.first == "p" else { return .time(try TimeSpan(text).nanoseconds) }
        let parts = text.dropFirst().split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
        let times = parts.count == 2 ? Double(parts[1].trimmed) : 1
        guard let percent = Int(parts[0].trimmed), [50, 90, 99].contains(percent), let times, times > 0, times < 1e6
        else {
            throw InvalidText(description: "'\(text)' is no limit: p50, p90 and p99 are, and p99*3 is three times that")
        }
        return .percentile(percent, times: times)
    }
}

extension StringProtocol {
    /// Without spaces at both ends.
    fileprivate var trimmed: String {
        let isSpace = { (letter: Character) in letter == " " }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
