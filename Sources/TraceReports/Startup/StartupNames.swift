internal import TraceAnalysis
public import TraceFindings
internal import TraceText

extension StartupTimeline.Part {
    /// What people call it.
    public var name: String {
        switch self {
        case .fork: "fork and exec"
        case .kernel: "kernel maps"
        case .mapping: "mapping libraries"
        case .relocation: "relocation"
        case .initializer, .initializers: "initializers"
        case .between: "between initializers"
        case .recording: "recording"
        case .main: "main to end"
        }
    }
}

extension StartupPhase {
    /// The names of its parts. Of more than one it is not known where one ended and the next began.
    public var name: String { parts.map(\.name).joined(separator: " + ") }
    /// Whether it was over when main was called.
    public var isBeforeMain: Bool { !parts.contains(.main) }
}

/// A name with what makes it unique for readers.
struct StartupNames {
    let functions: FunctionTable
    let threads: [UInt32]

    /// The last functions of a call path, with what was left out.
    func path(_ path: [UInt32], last: Int = 4) -> String {
        let names = path.suffix(last).map { functions[$0].name }
        return (path.count > last ? "… → " : "") + names.joined(separator: " → ")
    }
}

extension Startup.Initializer {
    /// Whether a function is only how a linker or compiler calls the beginning of a module.
    var label: String { "\(PathText.name(module)) \(function)" }
}
