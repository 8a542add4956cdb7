/// What a record says.
@frozen
public enum Record: UInt8, Sendable {
    /// A call begins: ``RecordCursor/function``, ``RecordCursor/callSite(callerFunction:callerSite:)``.
    case enter
    /// The innermost open call ends.
    case exit
    /// ``RecordCursor/count`` innermost calls ended without their exit.
    case unwind
    /// ``RecordCursor/lane`` runs now, with ``RecordCursor/count`` open calls.
    case lane
    /// ``RecordCursor/count`` callees of the innermost open call, ``RecordCursor/droppedTicks`` long, were left out.
    case dropped
    /// A moment, whose name is ``RecordCursor/name``.
    case mark
    /// The counter ``RecordCursor/name`` has ``RecordCursor/value``.
    case counter
    /// The next enter begins a piece of a Swift task: ``RecordCursor/piece``.
    case task
    /// The arguments of the innermost call, which has just begun: ``RecordCursor/arguments``.
    case arguments
    /// What the innermost call, which ends next, returns.
    case result
    /// The innermost call, which has just begun, waits: ``RecordCursor/wait``.
    case wait
    /// The thread is about to end a wait of others: ``RecordCursor/wait``.
    case wake
    /// Memory was allocated or freed, or a page of it was brought: ``RecordCursor/block``.
    case memory
    /// No more records.
    case end
    /// The bytes at the cursor are no record; the cursor stays there.
    case malformed
}
