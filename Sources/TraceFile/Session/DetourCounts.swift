internal import CTraceFormat

/// What became of the detours of a module's functions (`--any`).
public struct DetourCounts: Sendable, Equatable {
    /// Functions that were judged to be fit.
    public var asked: Int
    /// Those whose calls are recorded.
    public var open: Int
    /// Those that were closed again because they cost more than asked for.
    public var busy: Int

    /// Why none of them has a detour.
    public enum Failure: Sendable, Equatable {
        /// There was no free memory near the module.
        case noRoom
        /// Other threads may have run the module's code.
        case late
        /// Functions sign their return addresses, in bits that belong to addresses here.
        case signed
        /// The error with which the code could not be changed.
        case error(Int32)
    }
    public var failure: Failure?

    init(_ raw: fathom_detours_item) {
        asked = Int(raw.asked)
        open = Int(raw.open)
        busy = Int(raw.busy)
        failure =
            switch raw.error {
            case 0: nil
            case FATHOM_DETOURS_NO_ROOM: .noRoom
            case FATHOM_DETOURS_LATE: .late
            case FATHOM_DETOURS_SIGNED: .signed
            default: .error(Int32(bitPattern: raw.error))
            }
    }
}
