public import TraceAnalysis
public import TraceText

/// Writes all call paths as nested JSON objects. Callees are in the order of their first calls.
public struct GraphJSON {
    private let writer: ByteWriter

    private let samplePeriod: UInt64?
    private let keepsTimes: Bool

    /// - Parameters:
    ///   - samplePeriod: where calls are samples of the stacks, the time that a sample stands for, in ns.
    ///   - keepsTimes: whether there are times, and not only numbers of calls.
    public init(_ writer: ByteWriter, samplePeriod: UInt64? = nil, keepsTimes: Bool = true) {
        self.writer = writer
        self.samplePeriod = samplePeriod
        self.keepsTimes = keepsTimes
    }

    /// Writes the document: each of `trees` is a list by its name.
    public func write(_ trees: [(name: String, tree: CallPathTree)]) {
        for (position, (name, tree)) in trees.enumerated() {
            let times = TimesText(tree.cost, samplePeriod: samplePeriod, areKept: keepsTimes)
            writer.write(position == 0 ? "{\(times.json)\"\(name)\":" : ",\n\"\(name)\":")
            write(tree)
        }
        writer.write("}\n" as StaticString)
    }

    private func write(_ tree: CallPathTree) {
        writer.write(byte: UInt8(ascii: "["))
        var depth = -1
        for path in tree.paths where !writer.isClosed {
            // Ends the lists and objects of the paths that this one is not below.
            let closed = depth - Int(path.depth) + 1
            close(closed)
            if closed > 0 { writer.write(",\n" as StaticString) }
            depth = Int(path.depth)
            writeFields(of: path, tree.functions[path.function])
        }
        close(depth + 1)
        writer.write(byte: UInt8(ascii: "]"))
    }

    private func close(_ count: Int) {
        for _ in 0..<max(count, 0) { writer.write("]}" as StaticString) }
    }

    private func writeFields(of path: CallPath, _ function: ResolvedFunction) {
        writer.write("{\"name\":" as StaticString)
        writer.write(json: function.name)
        writer.write(",\"module\":" as StaticString)
        writer.write(json: function.module)
        writer.write(",\"calls\":" as StaticString)
        writer.write(decimal: path.sums.calls)
        writer.write(",\"total_ns\":" as StaticString)
        writer.write(decimal: path.sums.total)
        writer.write(",\"self_ns\":" as StaticString)
        writer.write(decimal: path.sums.selfTime)
        if path.sums.inherited > 0 {
            writer.write(",\"inherited_ns\":" as StaticString)
            writer.write(decimal: path.sums.inherited)
        }
        writer.write(path.sums.isReliable ? ",\"reliable\":true" : ",\"reliable\":false" as StaticString)
        if path.sums.dropped.calls > 0 {
            writer.write(",\"dropped_calls\":" as StaticString)
            writer.write(decimal: path.sums.dropped.calls)
            writer.write(",\"dropped_ns\":" as StaticString)
            writer.write(decimal: path.sums.dropped.time)
        }
        writer.write(",\"children\":[" as StaticString)
    }
}
