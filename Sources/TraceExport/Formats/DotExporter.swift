internal import TraceAnalysis
internal import TraceText

/// A call graph for Graphviz (https://graphviz.org/doc/info/lang.html): functions, and who calls whom how often.
struct DotExporter: Exporter {
    /// At most this many functions are shown, those with the longest totals. Graphviz takes a minute to lay out a graph
    /// of 1,000.
    static let maxNodes = 300
    /// At most this many characters of a name are shown; the tooltip has all.
    private static let maxName = 60

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        let tree = source.callPaths()
        let graph = CallGraph(tree, minTotal: source.filter.minCost)
        let used = graph.nodes.indices.filter { graph.nodes[$0].isUsed }
        // Functions are numbered as they were met, which is not the same each time where threads are read side by side.
        let names = Dictionary(uniqueKeysWithValues: used.map { ($0, graph.function($0).name) })
        let shown = used.sorted {
            (graph.nodes[$1].total, names[$0]!, $0) < (graph.nodes[$0].total, names[$1]!, $1)
        }.prefix(DotExporter.maxNodes)
        let places = Dictionary(uniqueKeysWithValues: zip(shown, 0...))

        writer.write("digraph calls {\n  node [shape=box, fontname=\"sans-serif\", style=filled];\n" as StaticString)
        writer.write("  edge [fontname=\"sans-serif\", fontsize=10];\n" as StaticString)
        for (place, index) in shown.enumerated() {
            write(graph.nodes[index], place, tree.functions, name: names[index]!, total: graph.total, writer)
        }
        let edges = graph.edges.compactMap { edge in
            places[Int(edge.caller)].flatMap { caller in places[Int(edge.callee)].map { (caller, $0, edge) } }
        }
        for (caller, callee, edge) in edges.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            writer.write("  f\(caller) -> f\(callee) [label=\"\(edge.calls)\"" as String)
            let width = 1 + 4 * Double(edge.time) / Double(max(graph.total, 1))
            writer.write(", penwidth=\((width * 10).rounded() / 10)];\n")
        }
        writer.write("}\n" as StaticString)
        var summary = ExportSummary(written: used.count)
        if used.count > shown.count {
            summary.remarks.append(
                "the graph has the \(shown.count) functions with the longest totals of \(used.count); "
                    + "--filter FUNCTION chooses others")
        }
        return summary
    }

    private func write(
        _ node: CallGraph.Node, _ place: Int, _ functions: FunctionTable, name: String, total: UInt64,
        _ writer: ByteWriter
    ) {
        let share = Double(node.total) / Double(max(total, 1))
        writer.write("  f\(place) [label=\"")
        let isLong = name.count > DotExporter.maxName
        writer.write(DotExporter.escape(isLong ? name.prefix(DotExporter.maxName) + "…" : name))
        writer.write("\\n" as StaticString)
        writer.write(time: node.total)
        writer.write(" total\\n" as StaticString)
        writer.write(time: node.selfTime)
        writer.write(" self\\n\(node.calls) \(functions.counted)\", tooltip=\"")
        writer.write(DotExporter.escape(name))
        // The colour (H S V) is orange, and deeper the longer the total is.
        let saturation = (min(share, 1) * 0.8 * 100).rounded() / 100
        writer.write("\", fillcolor=\"0.08 \(saturation) 1.0\"];\n")
    }

    /// `text` for a quoted string, in which backslashes begin escapes.
    static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\"", "\\": result += "\\\(character)"
            case "\n": result += " "
            default: result.append(character)
            }
        }
        return result
    }
}
