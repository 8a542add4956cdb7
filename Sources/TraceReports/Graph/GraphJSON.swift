public import TraceAnalysis
public import TraceText

/// Writes all call paths as nested JSON objects. Callees are in the order of their first calls.
public struct GraphJSON {
    private let json: JSONWriter

    private let options: GraphText.Options

    public init(_ writer: ByteWriter, _ options: GraphText.Options = GraphText.Options()) {
        json = writer.json
        self.options = options
    }

    /// Writes the document: each of `trees` is a list by its name.
    public func write(_ trees: [(name: String, tree: CallPathTree)]) {
        json.document {
            for (position, (name, tree)) in trees.enumerated() {
                if position > 0 { json.line() }
                let times = TimesText(tree.cost, samplePeriod: options.samplePeriod, areKept: options.keepsTimes)
                if position == 0 { times.writeFields(json) }
                json.name(of: name)
                json.beginArray()
                write(tree)
                json.endArray()
            }
        }
    }

    private func write(_ tree: CallPathTree) {
        var depth = -1
        for path in tree.paths where !json.bytes.isClosed {
            // Ends the lists and objects of the paths that this one is not below.
            close(depth - Int(path.depth) + 1)
            depth = Int(path.depth)
            json.beginObject(.allButFirst)
            writeFields(of: path, tree.functions[path.function])
            json.beginArray("children")
        }
        close(depth + 1)
    }

    private func close(_ count: Int) {
        for _ in 0..<max(count, 0) {
            json.endArray()
            json.endObject()
        }
    }

    private func writeFields(of path: CallPath, _ function: ResolvedFunction) {
        json.field("name", function.name)
        json.field("module", function.module)
        json.field("calls", path.sums.calls)
        json.field("total_ns", path.sums.total)
        json.field("self_ns", path.sums.selfTime)
        if options.split.isKnown { json.field("blocked_ns", path.sums.blocked) }
        if path.sums.inherited > 0 { json.field("inherited_ns", path.sums.inherited) }
        json.field("reliable", path.sums.isReliable)
        if path.sums.dropped.calls > 0 {
            json.field("dropped_calls", path.sums.dropped.calls)
            json.field("dropped_ns", path.sums.dropped.time)
        }
    }
}
