public import TraceAnalysis
public import TraceFile
internal import TraceSymbols
internal import TraceText

/// A session as a query shows it: which of its threads, under which names, with which calls hidden.
public struct SessionQuery {
    public let session: Session
    public let options: QueryOptions
    public let functions: FunctionTable
    public let resolver: FunctionResolver
    /// What is asked for, for this session.
    public private(set) var filter: TreeFilter
    let listener: QueryListener
    private let symbols: SymbolSource

    /// - Parameter listener: is told of symbols that cannot be read, as functions are asked for, and how far tasks are joined.
    public init(_ session: Session, _ options: QueryOptions, listener: QueryListener = QueryListener()) {
        let symbols = SymbolSource(for: session, options, warn: listener.warn, progress: listener.progress)
        self.init(
            session, options, symbols, symbols.functions(lines: options.lines || !options.filter.places.isEmpty),
            listener)
        filter.hidesCompilerMade =
            !options.rawNames && !options.showsCompilerMade && symbols.hasCompilerMade(session)
    }

    /// A session whose functions are known already.
    package init(_ session: Session, _ options: QueryOptions, functions: FunctionTable) {
        let symbols = SymbolSource(for: session, options, warn: { _ in }, progress: { _ in })
        self.init(session, options, symbols, functions, QueryListener())
    }

    private init(
        _ session: Session, _ options: QueryOptions, _ symbols: SymbolSource, _ functions: FunctionTable,
        _ listener: QueryListener
    ) {
        self.session = session
        self.options = options
        self.listener = listener
        self.symbols = symbols
        self.functions = functions
        filter = options.filter
        OffCPUFile.use(for: session)
        functions.countsSamples = session.content.samplePeriod != nil
        resolver = FunctionResolver(functions)
    }

    /// The same, of some of the time, in ns since the session's start.
    public func part(_ window: Range<UInt64>) -> SessionQuery {
        var part = self
        part.filter.from = max(filter.from, window.lowerBound)
        part.filter.to = min(filter.to, window.upperBound)
        return part
    }

    /// The name of the variable of `process` that is at `address`, with the offset in it; nil where that is none that has a
    /// name and a place of its own.
    public func variable(of process: TracedProcess, at address: UInt64) -> String? {
        guard let module = process.modules.first(where: { $0.low <= address && address < $0.high }) else { return nil }
        return symbols.variable(
            at: address &- module.bias, in: ModuleIdentity(path: module.path, buildID: module.buildID))
    }

    /// What the session keeps of what the dynamic linker had to do for a module.
    func keptLinkage(of module: ModuleIdentity) -> KeptModule.Linkage? { symbols.keptLinkage(of: module) }

    /// The threads that are asked for.
    ///
    /// - Complexity: where tasks are joined, as long as it takes to read the recording.
    public func selected() throws(QueryError) -> [ThreadSelection.Selected] {
        try options.selection.selected(of: session, joining: options.joinsTasks ? taskJoin : nil)
    }

    /// Joins the tasks of the session's processes.
    var taskJoin: TaskJoin { TaskJoin(of: session, resolver: resolver, onProgress: listener.progress) }

    /// Why no call is shown, once all that was asked for has been read.
    public var emptiness: QueryError {
        guard session.hasCalls else { return .noCalls(isDamaged: !session.damage.entries.isEmpty) }
        let wanted =
            filter.only + filter.leadingTo + (filter.watch?.patterns ?? []) + filter.withArguments.map(\.function)
        guard let missing = unmatched(wanted).first else {
            return unmatchedPlaces.first { !$0.hides }.map { .noPlace($0.text, near: nearFiles(to: $0)) }
                ?? .nothingLeft(near: .none)
        }
        let near = NearNames(to: missing, in: functions)
        // Of a part of the recording, it cannot be said that the function is not there at all.
        return looksAtEverything ? .noFunction(missing.text, near: near) : .nothingLeft(near: near)
    }

    /// Says of each of the filter's patterns that matches no function what may have been meant, where calls are shown all
    /// the same; once all that was asked for has been read.
    ///
    /// Of a part of the recording, only misspelt names are told: a function of that very name may lie outside.
    public var unmatchedPatterns: [String] {
        unmatchedPatterns(where: { _ in true })
            + unmatchedPlaces.map { QueryError.noPlace($0.text, near: nearFiles(to: $0)).description }
    }

    /// The same of those patterns for which `counts` holds.
    func unmatchedPatterns(where counts: (Pattern) -> Bool) -> [String] {
        unmatched(patterns).filter(counts).compactMap { pattern in
            let near = NearNames(to: pattern, in: functions)
            if looksAtEverything { return QueryError.noFunction(pattern.text, near: near).description }
            return near == .none ? nil : "no function that was looked at matches '\(pattern.text)'\(near.question)"
        }
    }

    /// Whether `pattern` matches none of the functions that were looked at.
    func isUnmatched(_ pattern: Pattern) -> Bool {
        !functions.functions.indices.contains { pattern.matches(functions[UInt32($0)]) }
    }

    /// Says of each of the filter's patterns that several names end with which these are, once all that was asked for has been
    /// read.
    public var severalNames: [String] { severalNames(of: patterns) }

    func severalNames(of patterns: [Pattern]) -> [String] {
        patterns.compactMap { pattern in
            pattern.severalNames(among: functions.functions.indices.lazy.map { functions[UInt32($0)].name })
        }
    }

    private var patterns: [Pattern] {
        filter.only + filter.leadingTo + filter.without + filter.hidden + filter.triggers.map(\.function)
    }

    /// The patterns of places where no function is that was looked at.
    private var unmatchedPlaces: [PlacePattern] {
        filter.places.filter { place in
            !functions.functions.indices.contains { place.matches(functions[UInt32($0)].file) }
        }
    }

    private func nearFiles(to place: PlacePattern) -> NearNames {
        let files = Set(functions.functions.indices.compactMap { functions[UInt32($0)].file })
        return NearNames(to: place.askedName, among: files.sorted().map(PathText.name))
    }

    private func unmatched(_ patterns: [Pattern]) -> [Pattern] { patterns.filter(isUnmatched) }

    /// Whether nothing is left out for its time.
    var isOfAllTime: Bool { filter.from == 0 && filter.to == .max }

    /// Whether every function that was recorded is among ``functions``, once the recording has been read.
    private var looksAtEverything: Bool {
        options.selection.isAll && isOfAllTime && filter.maxDepth == .max
            && filter.without.allSatisfy(isUnmatched)
    }

    /// What the recording lacks; what was lost of `threads` is in it, too.
    public func warnings(of threads: [TracedThread]) -> [String] {
        let lost = threads.reduce(UInt64(0)) { $0 &+ $1.lostCalls }
        return session.warnings
            + (lost > 0 ? ["\(lost) calls left no record; their time is in their callers' self time"] : [])
    }
}
