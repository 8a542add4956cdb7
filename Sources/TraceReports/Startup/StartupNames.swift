internal import TraceAnalysis
internal import TraceFindings
internal import TraceText

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
