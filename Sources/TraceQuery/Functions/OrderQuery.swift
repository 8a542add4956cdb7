public import TraceAnalysis
public import TraceFile
public import TraceFindings
internal import TraceSymbols
internal import TraceText

/// In which order the functions of a program should lie, by the runs that sessions recorded.
public struct OrderQuery {
    /// A function that is put in order.
    public struct Function: Sendable, Equatable {
        fileprivate let function: HookedFunctions.Function

        /// Its names as linkers know them; any of them means the same function.
        public var linkageNames: [String] { [function.linkageName] + function.aliases }
        public var range: Range<UInt64> { function.range }
        /// The name as reports show it. It is made anew at each call.
        public var name: String { function.name(raw: false).visible }
    }

    /// The file whose functions are put in order.
    public let path: String
    public let functions: [Function]
    public let startPages: StartPages
    public let runs: Int
    /// How many functions that were called are not in the file.
    public let missing: Int
    public let answer: Answer<FunctionOrder>

    /// What is put in order.
    public struct Subject {
        /// Only the module of this path or name; nil for the program itself.
        public var module: Pattern?
        /// Another build of the module, whose functions are put in order instead; nil for none.
        public var build: String?
        /// Functions that were called first after this moment, in ns since the session's start, are left out.
        public var end = UInt64.max

        public init() {}
    }

    /// - Parameters:
    ///   - sessions: each is a run.
    ///   - listener: is told of what is wrong, and how far reading is.
    public init(
        _ sessions: [Session], _ options: QueryOptions, _ subject: Subject = Subject(),
        listener: QueryListener = QueryListener()
    ) throws(QueryError) {
        var called: [[(module: ModuleIdentity, address: UInt64)]] = []
        var warnings: [String] = []
        for session in sessions {
            try session.requireMoments(for: "fathom order needs the moments of first calls")
            var whole = QueryOptions()
            whole.selection = options.selection
            whole.rawNames = true
            whole.lines = false
            whole.joinsTasks = false
            let query = SessionQuery(session, whole, listener: QueryListener(progress: listener.progress))
            let threads = try query.selected().flatMap(\.threads)
            let first = FirstCalls(of: session, resolver: query.resolver, onProgress: listener.progress)
            called.append(
                first.functions(of: threads, until: subject.end).filter { $0.module >= 0 }
                    .map { (query.functions.modules[Int($0.module)], $0.address) })
            warnings += query.warnings(of: threads)
        }
        let module = try OrderQuery.module(of: called, sessions, subject.module)
        // Traps find what compilers split off functions, too.
        let hasParts = sessions.contains { $0.content == .firstCalls }
        let recorded = try OrderQuery.contents(
            module.path, buildID: module.buildID, isChanged: sessions.contains { $0.changedModules.contains(module) },
            parts: hasParts)
        let target = try subject.build.map { path throws(QueryError) in
            try OrderQuery.contents(path, buildID: [], parts: hasParts)
        }
        var places: [String: [Int]] = [:]
        for (place, function) in (target ?? recorded).functions.enumerated() {
            for name in [function.linkageName] + function.aliases {
                places[HookedFunctions.withoutVersion(name), default: []].append(place)
            }
        }
        var missing: Set<String> = []
        let runs = called.map { calls in
            var seen: Set<Int> = []
            return calls.flatMap { call -> [Int] in
                guard call.module == module || !module.buildID.isEmpty && call.module.buildID == module.buildID,
                    let place = recorded.place(of: call.address)
                else { return [] }
                let name = recorded.functions[place].linkageName
                let found = target == nil ? [place] : places[HookedFunctions.withoutVersion(name)] ?? []
                if found.isEmpty { missing.insert(name) }
                return found.filter { seen.insert($0).inserted }
            }
        }
        let file = target ?? recorded
        guard runs.contains(where: { !$0.isEmpty }) else { throw .nothingLeft(near: .none) }
        let order = FunctionOrder(file.functions.map(\.range), runs: runs)
        functions = order.functions.map { Function(function: file.functions[$0]) }
        startPages = StartPages(functions.map(\.range), code: file.code)
        path = subject.build ?? module.path
        self.runs = sessions.count
        self.missing = missing.count
        answer = Answer(order, warnings: warnings, sessions: sessions)
    }

    /// The module that is asked for; otherwise the program of the first session, or what most calls were in.
    private static func module(
        of called: [[(module: ModuleIdentity, address: UInt64)]], _ sessions: [Session], _ pattern: Pattern?
    ) throws(QueryError) -> ModuleIdentity {
        var counts: [ModuleIdentity: Int] = [:]
        for call in called.joined() { counts[call.module, default: 0] += 1 }
        let program = sessions.first?.processes.first?.path
        let wanted = counts.filter { module, _ in
            pattern.map { $0.matches(module.path) || $0.matches(PathText.name(module.path)) } ?? true
        }
        guard
            let module = wanted.keys.first(where: { pattern == nil && $0.path == program })
                ?? wanted.max(by: { ($0.value, $1.key.path) < ($1.value, $0.key.path) })?.key
        else {
            throw pattern.map { .noModule($0.text) }
                ?? (sessions.contains(where: \.hasCalls) ? .nothingLeft(near: .none) : .noCalls(isDamaged: false))
        }
        return module
    }

    private static func contents(
        _ path: String, buildID: [UInt8], isChanged: Bool = false, parts: Bool
    ) throws(QueryError) -> HookedFunctions {
        do throws(SymbolProblem) {
            if let problem = ModuleSymbols(path: path, buildID: buildID, isChanged: isChanged).problem { throw problem }
            return try HookedFunctions(path: path, parts: parts)
        } catch {
            throw .noSymbols("\(error)")
        }
    }
}
