internal import CTraceFormat

/// A program with hooks that a recorded process started and that was not recorded.
public struct MissedProgram: Sendable, Equatable {
    public enum Reason: UInt32, Sendable { case isStatic = 1, foreign, privileged, noAccess }

    public var path: String
    public var pid: UInt32
    public var startTicks: UInt64
    /// Nil when the reason is none of the known ones.
    public var reason: Reason?

    /// The missed programs that metadata tells of.
    static func all(in payload: UnsafeRawBufferPointer) -> [MissedProgram] {
        var missed: [MissedProgram] = []
        var rest = payload
        let size = MemoryLayout<fathom_missed_item>.size
        while rest.count >= size {
            let raw = rest.loadUnaligned(as: fathom_missed_item.self)
            guard Int(raw.item.size) >= size, Int(raw.item.size) <= rest.count else { break }
            if UInt32(raw.item.kind) == FATHOM_ITEM_MISSED, Int(raw.path_size) <= Int(raw.item.size) - size {
                missed.append(
                    MissedProgram(
                        path: String(decoding: rest[size...].prefix(Int(raw.path_size)), as: UTF8.self), pid: raw.pid,
                        startTicks: raw.ticks, reason: Reason(rawValue: raw.reason)))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(raw.item.size)...])
        }
        return missed
    }
}
