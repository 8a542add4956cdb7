internal import ArgumentParser
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
        before: [String], after: [String], _ threads: ThreadOptions, _ filters: FilterOptions, usesCache: Bool,
        options: SessionComparison.Options
    ) throws {
        filter = try filters.treeFilter()
        let builder = ComparisonBuilder()
        var isEmpty = true
        var inputs: [AggregateInput] = []
        for (side, paths) in [(ComparisonBuilder.Side.before, before), (.after, after)] {
            for path in paths {
                let input = try AggregateInput(openSession(path), threads, filters, usesCache: usesCache)
                let tree = input.anyTree()
                isEmpty = isEmpty && tree.paths.isEmpty
                builder.add(
                    tree, to: side, program: input.session.processes.first?.path,
                    moment: input.session.startRealtimeNanoseconds)
                inputs.append(input)
            }
        }
        try inputs[inputs.count - 1].check(isEmpty: isEmpty)
        self.inputs = inputs
        comparison = builder.comparison(options: options)
    }

    /// Draws the differential flame graph: a page, or a picture if `path` ends in .svg.
    func draw(options: FlameGraph.Options, to path: String) throws {
        let graph = FlameGraph(comparison, options: options)
        guard !graph.isEmpty else { throw Diagnostics.fail("nothing of what is after is left to draw", status: 1) }
        let file = try OutputFile(path)
        if path.hasSuffix(".svg") { graph.writeSVG(to: file.writer) } else { graph.writeHTML(to: file.writer) }
        try file.finish()
    }

    /// Says what the recordings lack.
    func warn() {
        for input in inputs { input.warn() }
    }
}
