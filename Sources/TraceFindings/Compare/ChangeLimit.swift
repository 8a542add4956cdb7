public import TraceAnalysis
internal import TraceStatistics

/// A change that is too much, as `--fail-on` has it: `total>5%`, `self(parse*)>10ms`, `calls(malloc)>0`.
///
/// It consists of a metric, the functions that it is looked at for, and how much it may grow: as a part of what was
/// before, as a time, or, for calls, as a number. Without functions it is about the whole: all calls, and the time of
/// the roots.
public struct ChangeLimit {
    public enum Amount: Sendable, Equatable {
        /// 0.05 is 5 %.
        case part(Double)
        /// ns, or calls.
        case absolute(Double)
    }

    /// Why an expression is refused.
    public struct InvalidExpression: Error, CustomStringConvertible {
        public let expression: String
        public let reason: String
        public var description: String { "'\(expression)': \(reason)" }
    }

    public let expression: String
    public let metric: SessionComparison.Metric
    public let amount: Amount
    private let functions: Pattern?

    public init(_ expression: String) throws(InvalidExpression) {
        func refusal(_ reason: String) -> InvalidExpression {
            InvalidExpression(expression: expression, reason: reason)
        }
        self.expression = expression
        // The last sign separates the limit: names have signs of their own, like operator>>, but an amount has none.
        guard let sign = expression.lastIndex(of: ">") else {
            throw refusal("expected METRIC>AMOUNT or METRIC(FUNCTION)>AMOUNT, as in total>5%")
        }
        let subject = ChangeLimit.trimmed(expression[..<sign])
        let word = ChangeLimit.trimmed(subject.prefix { $0 != "(" })
        guard let metric = SessionComparison.Metric(rawValue: String(word)) else {
            let metrics = SessionComparison.Metric.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal("'\(word)' is none of \(metrics)")
        }
        self.metric = metric
        if let open = subject.firstIndex(of: "(") {
            guard subject.hasSuffix(")") else { throw refusal("the function's parenthesis is not closed") }
            let name = subject[subject.index(after: open)...].dropLast()
            guard !name.isEmpty else { throw refusal("no function is named between the parentheses") }
            do throws(Pattern.InvalidPattern) {
                functions = try Pattern(String(name))
            } catch {
                throw refusal(error.description)
            }
        } else {
            guard metric != .average else { throw refusal("avg is of functions: avg(FUNCTION)>AMOUNT") }
            functions = nil
        }
        let amount = ChangeLimit.trimmed(expression[expression.index(after: sign)...])
        guard let amount = ChangeLimit.amount(amount, of: metric) else {
            throw refusal(
                "expected a part like 5% or a \(metric == .calls ? "number of calls" : "time like 10ms"), not '\(amount)'"
            )
        }
        self.amount = amount
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func amount(_ text: Substring, of metric: SessionComparison.Metric) -> Amount? {
        if text.hasSuffix("%") {
            guard let percent = Double(String(trimmed(text.dropLast()))), percent >= 0, percent.isFinite else {
                return nil
            }
            return .part(percent / 100)
        }
        if metric == .calls { return UInt64(text).map { .absolute(Double($0)) } }
        // 0 may be a part or a time.
        guard text.last?.isLetter == true else { return nil }
        return (try? TimeSpan(text)).map { .absolute(Double($0.nanoseconds)) }
    }

    /// What names the functions; nil when the limit is for the whole.
    public var pattern: Pattern? { functions }

    /// Whether the limit is for the whole, not for functions.
    public var isOfWhole: Bool { functions == nil }

    /// Whether the limit is for functions that `comparison` does not have, so that it cannot hold.
    public func isMoot(in comparison: SessionComparison) -> Bool { rows(of: comparison).isEmpty }

    private func rows(of comparison: SessionComparison) -> [SessionComparison.Row] {
        guard let functions else { return [comparison.whole] }
        return comparison.functionRows.filter { functions.matches(comparison.functions[$0.function].name) }
    }

    /// The rows that grow by more than the limit. With repeated runs, only those whose growth is beyond noise.
    public func exceeded(in comparison: SessionComparison) -> [SessionComparison.Row] {
        rows(of: comparison).filter { row in
            let value = row[metric]
            guard value.isBeyondNoise || !comparison.isRepeated else { return false }
            return switch amount {
            case .part(let part): value.sample.relativeChange > part
            case .absolute(let amount): value.sample.change > amount
            }
        }
    }
}
