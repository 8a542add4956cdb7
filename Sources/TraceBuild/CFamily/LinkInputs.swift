internal import TraceSymbols

/// The objects and libraries of a link.
struct LinkInputs {
    /// Whether some hold Swift code with hooks.
    private(set) var holdHookedSwift = false
    /// Whether some were compiled with hooks, or may prove to have been when the link compiles them.
    private(set) var mayCallHooks = false

    /// - Parameters:
    ///   - paths: objects and static libraries.
    ///   - output: what is linked.
    /// - Throws: ``BuildError/mixed(objects:output:)`` when some went past Fathom, unless that is asked for.
    init(_ paths: [String], of output: String, _ options: BuildOptions) throws(BuildError) {
        var bare: [String] = []
        for path in paths {
            let inspection = ObjectInspection(path)
            bare += inspection.withoutHookOptions
            holdHookedSwift = holdHookedSwift || inspection.holdsHookedSwift
            mayCallHooks = mayCallHooks || inspection.mayCallHooks
        }
        if !bare.isEmpty, !options.keepGoing { throw .mixed(objects: bare, output: output) }
    }
}
