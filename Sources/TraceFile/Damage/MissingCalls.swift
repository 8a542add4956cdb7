/// Calls that a reader finds missing in a recording by what its headers count, besides the gaps that chunks themselves
/// tell of. ``RecordingLosses`` is what the recorder counts and writes there.
public struct MissingCalls: Sendable, Equatable {
    /// Calls that found no buffer: the file system was full, or the size cap was reached.
    public var unplacedCalls: UInt64 = 0
    /// Or most of them no return place, which calls of functions without hooks need.
    public var hasNoPlaces = false
    /// Calls in chunks that could not be written to the log.
    public var unwrittenCalls: UInt64 = 0
    /// The error that kept them from being written; 0 for the size cap.
    public var writeError: Int32 = 0

    /// Calls that the record options left out, as the user asked.
    public var leftOutCalls: UInt64 = 0

    /// Whether system calls are missing, because they came faster than they could be read.
    public var lacksSystemCalls = false

    /// Why calls found no return place.
    public static let noPlaces = "too many were open, or never returned, and no return place was free"

    public var calls: UInt64 { unplacedCalls.addingClamped(unwrittenCalls) }
}

extension MissingCalls: CustomStringConvertible {
    /// Why calls were not recorded.
    public var reason: String {
        if writeError != 0 { return describe(writeError) }
        return hasNoPlaces && unplacedCalls >= unwrittenCalls ? Self.noPlaces : "no room was left within the limits"
    }

    /// One line for people.
    public var description: String { "\(calls) calls were not recorded: \(reason)" }
}

extension UInt64 {
    /// Returns the sum, or the greatest possible number: a damaged file, or a program that wrote over its counts, may say any
    /// number.
    package func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
