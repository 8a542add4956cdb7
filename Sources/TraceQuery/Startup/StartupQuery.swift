internal import TraceAnalysis
public import TraceFile
public import TraceFindings
internal import TraceSymbols
internal import TraceText

/// How the program of a session started.
public struct StartupQuery {
    /// Where a start is over, as somebody says it.
    public enum End: Sendable {
        case main
        case mark(String)
        case function(String)
        /// The program ends.
        case last
    }

    public let startup: Startup
    public let query: SessionQuery
    /// Who waited for whom; nil where that was not recorded.
    public let waits: Waits?
    /// What the recording lacks.
    public let warnings: [String]

    /// - Throws: ``QueryError`` when calls were not kept, or the pattern is none.
    public init(
        _ session: Session, _ end: End, _ options: QueryOptions = QueryOptions(),
        listener: QueryListener = QueryListener()
    ) throws(QueryError) {
        try session.requireCalls(for: "fathom startup needs the moments of calls")
        guard let process = session.startedProcess else {
            throw .noCalls(isDamaged: !session.damage.entries.isEmpty)
        }
        var options = options
        options.joinsTasks = false
        let query = SessionQuery(session, options, listener: listener)
        self.query = query
        (startup, waits) = try StartupBuilder(session, process, query, end).startup()
        warnings = query.warnings(of: process.threads)
    }
}

/// Puts together what the kernel, the process, its calls and its files tell of a start.
private struct StartupBuilder {
    let session: Session
    let process: TracedProcess
    let query: SessionQuery
    let end: StartupQuery.End
    let kernel: KernelStart?
    let origin: UInt64

    init(_ session: Session, _ process: TracedProcess, _ query: SessionQuery, _ end: StartupQuery.End) {
        self.session = session
        self.process = process
        self.query = query
        self.end = end
        kernel = session.kernelStart()
        origin = session.startNanoseconds
    }

    /// What is looked for, and how it is called.
    private func wanted() throws(QueryError) -> (end: StartupEnd, text: String) {
        switch end {
        case .main: return (.main, "main")
        case .last: return (.main, "the program's end")
        case .mark(let name): return (.mark(name), "mark '\(name)'")
        case .function(let text):
            let pattern: Pattern
            do { pattern = try Pattern(text) } catch { throw .noFunction(text, near: .none) }
            return (.function(isAsked: query.functions.matching([pattern])), "the first call of '\(text)'")
        }
    }

    func startup() throws(QueryError) -> (Startup, Waits?) {
        let (wanted, text) = try wanted()
        let found = StartupEndFinder(wanted, in: session, resolver: query.resolver)
        let notes = process.start
        let first = notes?.preparation?.begin.nanoseconds ?? notes?.main?.begin.nanoseconds
        var moments =
            kernel.map { StartupTimeline.Moments($0, origin: origin, limit: first ?? .max) }
            ?? StartupTimeline.Moments(begin: 0)
        moments.main = kernel?.main.map { $0 - min(origin, $0) } ?? found.main
        let main = notes?.main.map { $0.end.nanoseconds - min(origin, $0.end.nanoseconds) } ?? moments.main
        var incompleteness: String?
        let reached: UInt64
        if case .main = end {
            if main == nil { incompleteness = "main was not seen: \(mainAdvice)" }
            reached = main ?? max(found.last, moments.user ?? 0)
        } else if case .last = end {
            reached = max(found.last, main ?? 0, moments.user ?? 0)
        } else {
            if found.end == nil { incompleteness = "\(text) was not reached\(near)" }
            reached = found.end ?? main ?? max(found.last, moments.user ?? 0)
        }
        let steps = kernel.flatMap { kernel in
            moments.user.map {
                LoaderSteps(kernel, from: $0 + origin, to: first ?? moments.main.map { $0 + origin } ?? .max)
            }
        }
        let ours = (steps?.stretches ?? []).filter { StartupLibraries.isOurs($0.path) }.map(\.time)
        let timeline = StartupTimeline(moments, notes, ours: ours, origin: origin, end: reached)
        let spans = (notes?.initializers ?? []).map { part in
            (
                begin: part.begin.nanoseconds - min(origin, part.begin.nanoseconds),
                end: part.end.nanoseconds - min(origin, part.end.nanoseconds)
            )
        }
        let calls = StartupCalls(
            of: process, from: timeline.begin, until: timeline.end, initializers: spans, clock: session.clock,
            resolver: query.resolver)
        var startup = Startup(timeline: timeline, calls: calls, end: text)
        startup.incompleteness = incompleteness
        let offCPU = session.switches?.offCPU(of: process.pid)
        startup.phases = StartupPhase.all(
            of: timeline, notes: notes, kernel: kernel, origin: origin, offCPU: offCPU)
        startup.initializers = initializers(notes, until: timeline.end)
        startup.bytesRead = (notes?.main ?? notes?.preparation)?.begin.bytesRead
        startup.majorFaults =
            kernel.flatMap {
                $0.refusal == nil ? UInt64($0.faults.count { $0.isMajor && $0.time < timeline.end + origin }) : nil
            }
            ?? notes?.main?.begin.majorFaults
        addLibraries(to: &startup, steps)
        let waits =
            session.description?.waitSources?.tellsCauses != true
            ? nil
            : query.waits(of: session.processes.flatMap(\.threads)).waits
        startup.advice = advice(startup, waits)
        startup.gaps = gaps(notes, moments) + startup.gaps
        return (startup, waits)
    }

    private var mainAdvice: String {
        process.start == nil && kernel == nil
            ? "record --startup notes it, also of a program without hooks"
            : "the program ended before, or is linked statically without Fathom's runtime"
    }

    /// The names of marks, or functions, that may have been meant.
    private var near: String {
        switch end {
        case .main, .last: return ""
        case .mark(let name):
            let marks = session.processes.flatMap { $0.names.values.filter { $0.kind == .mark }.map(\.text) }
            return marks.isEmpty
                ? "; the program marked no moment (fathom_mark)" : NearNames(to: name, among: marks.sorted()).question
        case .function(let text):
            guard let pattern = try? Pattern(text) else { return "" }
            return session.processes.contains { $0.threads.contains { $0.countCalls() > 0 } }
                ? NearNames(to: pattern, in: query.functions).question : "; the recording has no calls"
        }
    }

    private func initializers(_ notes: RecordedStart?, until end: UInt64) -> [Startup.Initializer] {
        let space = query.resolver.space(of: process)
        return (notes?.initializers ?? []).compactMap { part in
            let begin = part.begin.nanoseconds - min(origin, part.begin.nanoseconds)
            guard begin < end else { return nil }
            let function = query.functions[space.function(at: part.function, ticks: session.clock.ticks(at: begin))]
            return Startup.Initializer(
                module: function.module ?? process.path.visible, function: function.name, file: function.file,
                begin: begin, nanoseconds: part.end.nanoseconds - part.begin.nanoseconds,
                minorFaults: part.end.minorFaults - min(part.begin.minorFaults, part.end.minorFaults),
                majorFaults: part.end.majorFaults - min(part.begin.majorFaults, part.end.majorFaults),
                bytesRead: part.end.bytesRead - min(part.begin.bytesRead, part.end.bytesRead))
        }
    }

    private func advice(_ startup: Startup, _ waits: Waits?) -> [StartupAdvice] {
        var advice = StartupAdvice.all(
            total: startup.total, main: startup.timeline.main, end: startup.timeline.end,
            initializers: startup.initializers.map(\.nanoseconds), calls: startup.calls,
            mainNode: startup.calls.nodes.firstIndex {
                $0.caller == -1 && $0.thread == startup.calls.main && query.functions[$0.function].name == "main"
            }.map { Int32($0) }, waits: waits)
        let own = startup.libraries.filter { !$0.isSystem && !$0.isOurs }
        if own.count > StartupAdvice.mostLibraries {
            advice.append(
                StartupAdvice(.manyLibraries(own.map(\.path)), gain: own.reduce(0) { $0 + $1.cost }))
        }
        for library in startup.libraries where library.isUnused && !library.isOurs {
            advice.append(StartupAdvice(.unusedLibrary(library.path), gain: library.cost))
        }
        return advice.sorted { $0.gain > $1.gain }
    }

    private func gaps(_ notes: RecordedStart?, _ moments: StartupTimeline.Moments) -> [String] {
        var gaps: [String] = []
        if let refusal = kernel?.refusal {
            gaps.append(
                "The kernel does not tell of the start, so its phases up to the first initializer are one: \(refusal).")
        }
        if kernel == nil {
            gaps.append(
                "This was not recorded by record --startup: what came before the recorder's clock, the kernel's and the loader's part and initializers are not known apart."
            )
        } else if notes == nil {
            let apart =
                moments.main == nil
                ? "initializers and main are not known apart" : "initializers are not known one by one"
            gaps.append("The program does not take part in the recording, so \(apart).")
        }
        if let notes, notes.skippedArrays > 0 {
            gaps.append(
                "\(notes.skippedArrays) arrays of initializers could not be looked into; they count as time between initializers."
            )
        }
        if let kernel, kernel.lost > 0 {
            gaps.append(
                "The kernel had no room for \(kernel.lost) page faults or mappings, so more happened than is told.")
        }
        if let kernel, kernel.isFull { gaps.append("What the kernel told is not kept to the end: it was too much.") }
        return gaps
    }

    private func addLibraries(to startup: inout Startup, _ steps: LoaderSteps?) {
        let libraries = StartupLibraries(session, process, kernel)
        let linkages = libraries.linkages(
            kept: query.keptLinkage,
            read: { module in
                ModuleSymbols(
                    path: module.path, buildID: module.buildID, isChanged: session.isChanged(module)
                ).dynamicLinkage
            })
        for seen in libraries.libraries {
            let module = seen.module, path = module.path
            var library = Startup.Library(
                path: path.visible, isSystem: StartupBuilder.isSystem(path), isOurs: StartupLibraries.isOurs(path))
            // The kernel knows it by another path where links lead to it.
            let step = steps?.libraries.first { $0.range.overlaps(seen.range) }
            library.mapping = step?.mapping
            library.relocation = step?.relocation
            library.relocations = linkages[module].map { Startup.Relocations($0.relocations) }
            library.isUnused = linkages[module]?.isUnused ?? false
            startup.libraries.append(library)
        }
        // What recording adds is nothing of the program's.
        let theirs = (libraries.libraries.map(\.module) + [libraries.program]).filter {
            !StartupLibraries.isOurs($0.path)
        }
        let unknown = theirs.filter { linkages[$0] == nil }.map(\.path.visible)
        if unknown.isEmpty {
            startup.relocations = Set(theirs).reduce(into: Startup.Relocations()) {
                $0.add(Startup.Relocations(linkages[$1]?.relocations ?? [:]))
            }
        } else {
            let others = unknown.count > 1 ? " and \(unknown.count - 1) more" : ""
            startup.gaps.append(
                "The relocations, and which libraries nothing refers to, are not known, because \(unknown[0])\(others) "
                    + "cannot be read any more, or may be another file by now.")
        }
    }

    /// Whether a library lies where the distribution's packages put theirs.
    private static func isSystem(_ path: String) -> Bool {
        ["/lib/", "/lib64/", "/lib32/", "/usr/lib/", "/usr/lib64/", "/usr/lib32/"].contains { path.hasPrefix($0) }
    }
}

extension Session {
    /// The process that was started; nil where nobody tells of any.
    var startedProcess: TracedProcess? {
        // Where nothing of the program took part, only the kernel tells.
        processes.first
            ?? kernelStart().map { TracedProcess(unseen: $0.pid, path: description?.executable ?? "") }
    }
}

extension Startup.Relocations {
    fileprivate init(_ counts: [DynamicLinkage.Kind: UInt64]) {
        self.init()
        for (kind, count) in counts {
            switch kind {
            case .relative: relative += count
            case .symbol: symbols += count
            case .call: calls += count
            case .indirect: indirect += count
            case .copy: copies += count
            case .threadLocal: threadLocal += count
            case .other: other += count
            }
        }
    }
}
