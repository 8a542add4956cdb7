/// Calls that a recording knows it has not got, beyond the gaps that chunks tell of themselves.
public struct Losses: Sendable, Equatable {
    /// Calls that found no buffer: the file system was full, or the size cap was reached.
    public var unplacedCalls: UInt64 = 0
    /// Calls in chunks that could not be written to the log.
    public var unwrittenCalls: UInt64 = 0
    /// Why they could not; 0: the size cap.
    public var writeError: Int32 = 0

    /// Calls that the record options left out, as was asked for.
    public var leftOutCalls: UInt64 = 0

    public var calls: UInt64 { unplacedCalls.addingClamped(unwrittenCalls) }
}

extension Losses: CustomStringConvertible {
    /// Why calls were not recorded.
    public var reason: String {
        writeError == 0 ? "no room was left within the limits" : describe(writeError)
    }

    /// One line for people.
    public var description: String { "\(calls) calls were not recorded: \(reason)" }
}

extension UInt64 {
    /// The sum, or the greatest number there is: what a damaged file or a program that wrote over
    /// its counts says may be anything.
    package func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
