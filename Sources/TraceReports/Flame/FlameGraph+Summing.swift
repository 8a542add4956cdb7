extension FlameGraph {
    /// The graph without frames narrower than `least` ns nor what is below them: of such neighbours, there is one frame
    /// with function `summed`, as wide as they are, whose calls are their number and whose self time is their total.
    ///
    /// - Complexity: O(frames); at most total / `least` frames a row remain.
    func summing(narrowerThan least: Double) -> FlameGraph {
        var kept: [Frame] = []
        var run: Frame?
        func close() {
            if let run { kept.append(run) }
            run = nil
        }
        /// Depth of a frame that was too narrow. Frames below it are too narrow, too.
        var skipped: UInt32?
        for frame in frames {
            if let limit = skipped, frame.depth > limit {
                run?.calls += 1
                continue
            }
            skipped = nil
            guard Double(frame.total) < least, band(of: frame) == nil else {
                close()
                kept.append(frame)
                continue
            }
            skipped = frame.depth
            let end = frame.start &+ frame.total
            if let open = run, open.depth == frame.depth,
                Double(frame.start) - Double(open.start &+ open.total) < least
            {
                run?.total = max(open.total, end &- open.start)
                run?.selfTime &+= frame.total
                run?.waiting &+= frame.waiting
                run?.ownWaiting &+= frame.waiting
                run?.calls += 1
            } else {
                close()
                run = Frame(
                    function: FlameGraph.summed, depth: frame.depth, calls: 1, start: frame.start, total: frame.total,
                    selfTime: frame.total, waiting: frame.waiting, ownWaiting: frame.waiting)
            }
        }
        close()
        var options = options
        options.colouring = colouring
        var graph = FlameGraph(kept, total: total, timeline: timeline, names: names, options: options)
        graph.totals = totals
        graph.changes = changes
        graph.wall = wall
        return graph
    }
}
