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
    /// Something is told of this moment: ``RecordCursor/told``.
    case told
    /// The next enter begins a piece of a Swift task: ``RecordCursor/piece``.
    case task
    /// No more records.
    case end
    /// The bytes at the cursor are no record; the cursor stays there.
    case malformed
}
