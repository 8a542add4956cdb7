internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFormat
internal import TraceReports

/// The sessions that are compared, read one after another.
struct ComparisonInput {
    let comparison: SessionComparison
    let filter: TreeFilter
    private let inputs: [AggregateInput]

    /// - Parameters:
    ///   - before: paths of sessions.
    ///   - after: likewise.
    init(
        before: [String], after: [String], _ threads: ThreadOptions, _ symbols: SymbolOptions, _ filters: FilterOptions,
        usesCache: Bool,
        options: SessionComparison.Options
    ) throws {
        filter = try filters.treeFilter()
        let sessions = try (before + after).map(openSession)
        // One with itself is a comparison without evidence of noise; more would pretend to have some.
        if sessions.count > 2 { try ComparisonInput.refuseRepetition(of: sessions) }
        let builder = ComparisonBuilder()
        var isEmpty = true
        var inputs: [AggregateInput] = []
        for (index, session) in sessions.enumerated() {
            let input = try AggregateInput(session, threads, symbols, filters, usesCache: usesCache)
            let tree = input.anyTree()
            isEmpty = isEmpty && tree.paths.isEmpty
            builder.add(
                tree, to: index < before.count ? .before : .after, program: session.processes.first?.path,
                moment: session.startRealtimeNanoseconds)
            inputs.append(input)
        }
        try inputs[inputs.count - 1].check(isEmpty: isEmpty)
        self.inputs = inputs
        comparison = builder.comparison(options: options)
    }

    /// Refuses what is given twice, by whatever name: it would count as evidence of its own.
    private static func refuseRepetition(of sessions: [Session]) throws {
        var seen: Set<String> = []
        for session in sessions {
            guard let resolved = realpath(session.path, nil) else { continue }
            defer { free(resolved) }
            guard seen.insert(String(cString: resolved)).inserted else {
                throw Diagnostics.fail(
                    "error: \(session.path) is given twice, which is no evidence of noise: record it again",
                    status: ExitCode.validationFailure.rawValue)
            }
        }
    }

    /// Draws the differential flame graph.
    func draw(options: FlameGraph.Options, to file: FlameFile) throws {
        let graph = FlameGraph(comparison, options: options)
        guard !graph.isEmpty else { throw Diagnostics.fail("nothing of what is after is left to draw", status: 1) }
        try file.draw(graph)
    }

    /// Says what the recordings lack.
    func warn() {
        for input in inputs { input.warn() }
    }
}
