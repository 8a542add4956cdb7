internal import CTraceFormat

/// What the kernel tells of the program's threads while it is recorded. Each has a file of the session, and all files are alike.
package enum KernelEvents: Sendable {
    /// When threads gave up a CPU and got one again.
    case switches
    /// When they were woken, and by whom.
    case wakings
    /// Page faults.
    case faults

    var file: SessionFile {
        switch self {
        case .switches: .switches
        case .wakings: .wakings
        case .faults: .faults
        }
    }

    /// What the file begins with.
    var magic: UInt64 {
        switch self {
        case .switches: FATHOM_SWITCHES_MAGIC
        case .wakings: FATHOM_WAKINGS_MAGIC
        case .faults: FATHOM_FAULTS_MAGIC
        }
    }

    /// What a block is that is not as it was written.
    var damage: Damage.Kind {
        switch self {
        case .switches: .switches
        case .wakings: .wakings
        case .faults: .faults
        }
    }
}
