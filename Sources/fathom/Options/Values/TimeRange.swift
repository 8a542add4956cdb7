internal import ArgumentParser
internal import TraceAnalysis

/// A stretch of time since the start as people type it: `10ms~20ms`, `~20ms`, `10ms~`, or `10ms~+5ms`, which ends 5 ms after it
/// begins.
struct TimeRange: Equatable {
    /// In ns.
    var from: UInt64 = 0
    var to: UInt64 = .max

    /// Reads a value of an option.
    init(argument: String) throws {
        let ends = argument.split(separator: "~", omittingEmptySubsequences: false)
        guard ends.count == 2, argument != "~" else {
            throw ValidationError("a range is two times with ~ between them, as 10ms~20ms, ~20ms or 10ms~")
        }
        if !ends[0].isEmpty { from = try TimeSpan(ends[0]).nanoseconds }
        if ends[1].isEmpty { return }
        let isLength = ends[1].first == "+"
        let end = try TimeSpan(isLength ? ends[1].dropFirst() : ends[1]).nanoseconds
        to = isLength ? from + end : end
        if from > to { throw ValidationError("it ends before it begins: nothing lies in it") }
    }
}
