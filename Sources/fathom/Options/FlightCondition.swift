internal import ArgumentParser
internal import TraceAnalysis

/// What `--when` takes: a function, and how long its call is when what led to it is to be saved.
struct FlightCondition: ExpressibleByArgument {
    enum Limit: Equatable {
        /// In ns.
        case time(UInt64)
        /// So many times what 50, 90 or 99 of 100 calls do not exceed.
        case percentile(Int, times: Double)
    }

    let function: Pattern
    let limit: Limit
    let text: String

    /// Why a text is no condition.
    private struct InvalidText: Error, CustomStringConvertible {
        let description: String
    }

    init?(argument: String) { try? self.init(argument) }

    /// Reads `FUNC>TIME` or `FUNC>p99*3`. The last `>` counts, because names of operators and templates have some, too.
    init(_ text: String) throws {
        guard let sign = text.lastIndex(of: ">"), sign > text.startIndex else {
            throw InvalidText(description: "a condition is a function and a limit, as 'handle>200ms' or 'handle>p99*3'")
        }
        function = try namePattern(String(text[..<sign]).trimmed)
        limit = try Self.limit(String(text[text.index(after: sign)...]).trimmed)
        self.text = text
    }

    private static func limit(_ text: String) throws -> Limit {
        guard text.first == "p" else { return .time(try TimeSpan(argument: text).nanoseconds) }
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
