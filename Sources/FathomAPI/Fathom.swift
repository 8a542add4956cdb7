public import CFathom

/// Records the calls of this process from here on, by the options of the last start or of `fathom record`.
///
/// Calls that are open already show as inherited: their time begins here. Like all functions of this module, this is one
/// branch that is not taken without the runtime of `fathom record`, and may be called on any thread.
@inlinable @inline(__always)
public func start() { fathom_start() }

/// Records from here on, by these options, which `fathom record` has as well. What they leave out is counted.
///
/// - Parameters:
///   - maxDepth: deepest depth to record; roots are depth 0. Nil: all.
///   - minCost: shorter calls are left out, unless they call longer ones. Negative counts as zero.
@inlinable
public func start(maxDepth: Int? = nil, minCost: Duration = .zero) {
    guard isPresent else { return }
    let (seconds, attoseconds) = minCost.components
    let whole = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let nanoseconds = whole.partialValue.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000))
    fathom_start_with(
        maxDepth.map { UInt32(clamping: $0) } ?? .max,
        whole.overflow || nanoseconds.overflow ? .max : nanoseconds.partialValue)
}

/// Records no more until the next start.
///
/// Calls that are open end here, marked open. In another thread the stop shows at its next call: one that makes none until
/// the next start has missed nothing, and goes on as if there had been no stop.
@inlinable @inline(__always)
public func stop() { fathom_stop() }

/// Finishes what this thread has been writing: what all threads have recorded until now can then be read, whatever becomes
/// of this process.
@inlinable @inline(__always)
public func save() { fathom_save() }

/// A moment of this thread, shown between its calls.
///
/// - Parameter name: made only under `fathom record`. UTF-8, of which the first 255 bytes count; a process can give 4096
///   different names, all further ones become "(more names)".
@inlinable @inline(__always)
public func mark(_ name: @autoclosure () -> String) {
    guard isPresent else { return }
    fathom_mark(name())
}

/// The value of a counter from here on. Integers are exact up to 2^53.
///
/// - Parameter name: as of ``mark(_:)``.
@inlinable @inline(__always)
public func setCounter(_ name: @autoclosure () -> String, _ value: Double) {
    guard isPresent else { return }
    fathom_set_counter(name(), value)
}

/// Runs `body`, which shows as a call of this name.
///
/// - Parameter name: as of ``mark(_:)``.
@inlinable @inline(__always)
public func scope<Result, Failure: Error>(
    _ name: @autoclosure () -> String, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    guard isPresent else { return try body() }
    fathom_begin(name())
    defer { fathom_end() }
    return try body()
}

/// How the recording calls this thread, 15 bytes at most; its name elsewhere stays as it is.
@inlinable @inline(__always)
public func nameThread(_ name: @autoclosure () -> String) {
    guard isPresent else { return }
    fathom_name_thread(name())
}

/// Whether the program runs under `fathom record`.
@inlinable @inline(__always)
public var isPresent: Bool { fathom_find_api() != nil }
