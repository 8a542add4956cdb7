/// Why the functions of a module have no names, or none that may be trusted.
public enum SymbolProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file's build-id differs from the one that was running: its names would be wrong, so none is used.
    case rebuilt(String)
    /// The file has no build-id, and was changed since: it may be another one.
    case changed(String)
    case missing(String)
    /// A sound ELF file without any function symbol.
    case noSymbols(String)
    case unreadable(String, reason: String)

    /// One line, without a full stop.
    public var description: String {
        switch self {
        case .rebuilt(let path): "\(path) was rebuilt since the recording: its functions are shown as addresses"
        case .changed(let path):
            "\(path) was changed since the recording, and has no build-id to know it by: its functions are shown as addresses"
        case .missing(let path): "\(path) is gone: its functions are shown as addresses"
        case .noSymbols(let path): "\(path) has no symbols: its functions are shown as addresses"
        case .unreadable(let path, let reason):
            "\(path) cannot be read (\(reason)): its functions are shown as addresses"
        }
    }
}
