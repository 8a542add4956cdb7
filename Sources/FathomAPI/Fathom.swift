public import CFathom

/// Records the calls of this process from here on, by the options of the last start or of `fathom record`.
///
/// Calls that are open already show as inherited: their time begins here. Like all functions of this module, this one
/// may be called on any thread, and costs one branch that is not taken when the program runs without `fathom record`.
@inlinable @inline(__always)
public func start() { fathom_start() }

/// Records the calls of this process from here on, by these options, which `fathom record` has as well. Calls that they
/// leave out are counted.
///
/// - Parameters:
///   - maxDepth: the deepest depth to record; roots are depth 0. Nil records all.
///   - minCost: shorter calls are left out, unless they call longer ones. A negative time counts as zero.
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
/// Calls that are open end here, marked open. Another thread stops at its next call; if it makes none until the next
/// start, it goes on as if there had been no stop.
@inlinable @inline(__always)
public func stop() { fathom_stop() }

/// Finishes what this thread has been writing: what all threads have recorded until now can then be read, whatever becomes
/// of this process.
@inlinable @inline(__always)
public func save() { fathom_save() }

/// Marks a moment of this thread, which is shown between its calls.
///
/// - Parameter name: evaluated only under `fathom record`. The first 255 bytes of its UTF-8 count. A process can give
///   4096 different names; all further ones become "(more names)".
@inlinable @inline(__always)
public func mark(_ name: @autoclosure () -> String) {
    guard isPresent else { return }
    fathom_mark(name())
}

/// Sets a counter's value from here on. Integers are exact up to 2^53.
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

/// Names this thread in the recording, by at most 15 bytes. Its name elsewhere stays as it is.
@inlinable @inline(__always)
public func nameThread(_ name: @autoclosure () -> String) {
    guard isPresent else { return }
    fathom_name_thread(name())
}

/// Whether the program runs under `fathom record`.
@inlinable @inline(__always)
public var isPresent: Bool { fathom_find_api() != nil }
