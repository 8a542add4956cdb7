internal import TraceAnalysis
internal import TraceFile

/// Which functions of each module were called, in which of several sessions.
struct CalledFunctions {
    struct Module {
        var identity: ModuleIdentity
        /// The sessions that had the module, by number.
        var sessions: Set<Int> = []
        /// Whether first calls were recorded of it, by traps in place of hooks.
        var hasEntries = false
        /// The sessions that called a function, by its address in the file.
        var runs: [UInt64: Set<Int>] = [:]
    }

    /// A program that was not rebuilt is the same wherever it lies.
    private enum Key: Hashable {
        case build([UInt8])
        case path(String)
    }

    private var found: [Key: Module] = [:]
    private var sessionCount = 0

    var modules: [Module] { Array(found.values) }

    /// Adds the calls of another session.
    ///
    /// - Returns: what the recording lacks.
    /// - Complexity: as long as it takes to read the session.
    mutating func add(
        _ session: Session, _ options: QueryOptions, _ listener: QueryListener
    ) throws(QueryError) -> [String] {
        let number = sessionCount
        sessionCount += 1
        for module in session.processes.flatMap(\.modules) {
            change(ModuleIdentity(path: module.path, buildID: module.buildID)) { $0.sessions.insert(number) }
        }
        if session.content == .firstCalls {
            let choice = ChosenModules(of: session)
            for process in session.processes {
                for module in process.modules where choice.holds(module.path, isProgram: module.path == process.path) {
                    change(ModuleIdentity(path: module.path, buildID: module.buildID)) { $0.hasEntries = true }
                }
            }
        }
        var whole = QueryOptions()
        whole.selection = options.selection
        // Each version of a function counts by itself until the file tells what it is a version of.
        whole.rawNames = true
        whole.lines = false
        whole.takesFirstCalls = true
        let query = try AggregateQuery(session, whole, listener: QueryListener(progress: listener.progress))
        let tree = query.anyTree()
        for row in tree.rows(by: .function) {
            guard case .function(let id) = row.subject else { continue }
            let function = tree.functions.functions[Int(id)]
            guard function.module >= 0, function.address != GivenName.scopeBase else { continue }
            change(tree.functions.modules[Int(function.module)]) {
                if session.content == .firstCalls { $0.hasEntries = true }
                $0.runs[function.address, default: []].insert(number)
            }
        }
        let leftOut = session.losses.leftOutCalls
        return query.lacks
            + (leftOut > 0
                ? ["\(leftOut) calls were left out of the recording: what only they called counts as unused"] : [])
    }

    private mutating func change(_ identity: ModuleIdentity, _ body: (inout Module) -> Void) {
        let key = identity.buildID.isEmpty ? Key.path(identity.path) : .build(identity.buildID)
        body(&found[key, default: Module(identity: identity)])
    }
}
