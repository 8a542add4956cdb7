/// Why a gate cannot judge, apart from what cannot be read. The description is one line.
public enum GateFailure: Error, Equatable, CustomStringConvertible {
    case severalHistories
    /// A session of the baseline does not keep what another one does.
    case mixed(String, String)
    case selection(RunSelection.Refusal)
    /// What was run ended otherwise than well; the status as waitpid(2) has it.
    case ended(program: String, status: Int32)

    public var description: String {
        switch self {
        case .severalHistories: "--against is one history or several sessions"
        case .mixed(let session, let other): "\(session): keeps something else than \(other)"
        case .selection(let refusal): refusal.description
        case .ended(let program, let status) where status & 0x7f == 0:
            "\(program): ended with status \(status >> 8 & 0xff), so the run tells nothing"
        case .ended(let program, let status): "\(program): ended by signal \(status & 0x7f), so the run tells nothing"
        }
    }
}
