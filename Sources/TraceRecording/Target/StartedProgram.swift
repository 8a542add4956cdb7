internal import Glibc
internal import TraceText

/// A program that is started as `fathom record` starts it, and not recorded: a child with this terminal, which gets the signals that
/// are sent to this process.
public struct StartedProgram: Sendable {
    private let target: Target
    public var pid: Int32 { target.pid }

    /// Blocks the signals that are passed on in the calling thread, which has to call ``wait()``.
    ///
    /// - Parameter arguments: the first is its name.
    /// - Throws: ``RecordingError/cannotStart(path:errno:)``.
    public init(_ executable: String, _ arguments: [String]) throws(RecordingError) {
        let signals = Target.prepareSignals()
        let words = arguments.map { $0.withRawCString { strdup($0) } }
        defer { for word in words { free(word) } }
        var variables: [UnsafeMutablePointer<CChar>?] = [], next = environ
        while let variable = next.pointee {
            variables.append(variable)
            next += 1
        }
        target = try Target(starting: executable, arguments: words, environment: variables, signals: signals)
    }

    /// Waits for its end.
    public func wait() -> TargetStatus { TargetStatus(target.wait()) }
}
