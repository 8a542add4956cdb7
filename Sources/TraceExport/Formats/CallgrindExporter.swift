internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Callgrind's profile (https://valgrind.org/docs/manual/cl-format.html): self time of functions, calls and time of edges, in
/// a part for each thread.
///
/// The format knows only edges, and readers add up a function's inclusive time from the edges that lead to it.
/// ``CallGraph`` makes the edges such that this sum is the function's total, with recursion or without. A function with
/// calls both from callers and without one gets an edge from `(no caller)` for the latter. Calls that are not shown
/// become functions named as ``PathRemainder`` says.
struct CallgrindExporter: Exporter {
    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var written = 0
        var total: UInt64 = 0
        source.forEachGroup { total &+= CallGraph($1, minTotal: source.filter.minCost).total }
        writer.write("# callgrind format\nversion: 1\ncreator: fathom\n" as StaticString)
        if let command = source.session.description?.command, !command.isEmpty {
            writer.write("cmd: ")
            CallgrindExporter.write(name: CommandText.line(command), writer)
        }
        var part = 0
        source.forEachGroup { group, tree in
            part += 1
            begin(part, group, total, source, writer)
            let graph = CallGraph(tree, minTotal: source.filter.minCost)
            write(graph, writer)
            written += graph.nodes.count(where: \.isUsed)
        }
        if part == 0 { writer.write("events: ns\nsummary: 0\n" as StaticString) }
        return ExportSummary(written: written)
    }

    /// KCachegrind begins a part at any of these lines and wants to know its events again. callgrind_annotate takes all parts
    /// for one, and the last `summary:` for that of all, so there is only one.
    private func begin(
        _ part: Int, _ group: ThreadGroup, _ total: UInt64, _ source: ExportSource, _ writer: ByteWriter
    ) {
        writer.write(part == 1 ? "" : "\n")
        writer.write("pid: \(group.process.pid)\npart: \(part)\n")
        if let tid = group.tid { writer.write("thread: \(tid)\n") }
        writer.write("desc: Trigger: ")
        CallgrindExporter.write(name: group.name, writer)
        if source.functions.countsSamples {
            writer.write("desc: Calls: samples of the stacks\n" as StaticString)
        }
        writer.write("positions: line\nevents: ns\n" as StaticString)
        guard part == 1 else { return }
        writer.write("summary: " as StaticString)
        writer.write(decimal: total)
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func write(_ graph: CallGraph, _ writer: ByteWriter) {
        var names = CallgrindNames(writer)
        var edges = graph.edges[...]
        for (index, node) in graph.nodes.enumerated() where node.isUsed {
            let function = graph.function(index)
            writer.write(byte: UInt8(ascii: "\n"))
            names.write("", function)
            CallgrindExporter.write(line: function.line, node.selfTime, writer)
            while let edge = edges.first, edge.caller == UInt32(index) {
                let callee = graph.function(Int(edge.callee))
                names.write("c", callee)
                CallgrindExporter.write(calls: edge.calls, of: callee.line, writer)
                CallgrindExporter.write(line: function.line, edge.time, writer)
                edges = edges.dropFirst()
            }
        }
        let roots = graph.nodes.indices.filter { graph.nodes[$0].isCalled && graph.nodes[$0].roots.time > 0 }
        guard !roots.isEmpty else { return }
        writer.write(byte: UInt8(ascii: "\n"))
        names.write("", CallgrindExporter.noCaller)
        CallgrindExporter.write(line: 0, 0, writer)
        for index in roots {
            let callee = graph.function(index)
            names.write("c", callee)
            CallgrindExporter.write(calls: graph.nodes[index].roots.calls, of: callee.line, writer)
            CallgrindExporter.write(line: 0, graph.nodes[index].roots.time, writer)
        }
    }

    private static let noCaller = ResolvedFunction(name: "(no caller)", module: nil, file: nil, line: 0)

    private static func write(line: Int, _ time: UInt64, _ writer: ByteWriter) {
        writer.write(decimal: UInt64(max(line, 0)))
        writer.write(byte: UInt8(ascii: " "))
        writer.write(decimal: time)
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private static func write(calls: UInt64, of line: Int, _ writer: ByteWriter) {
        writer.write("calls=" as StaticString)
        writer.write(decimal: calls)
        writer.write(byte: UInt8(ascii: " "))
        writer.write(decimal: UInt64(max(line, 0)))
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// Writes a name to the end of the line.
    fileprivate static func write(name: String, _ writer: ByteWriter) {
        for byte in name.utf8 { writer.write(byte: byte == UInt8(ascii: "\n") ? UInt8(ascii: " ") : byte) }
        writer.write(byte: UInt8(ascii: "\n"))
    }
}

/// Writes names in full the first time in a part and by number after that.
private struct CallgrindNames {
    private let writer: ByteWriter
    private var numbers: [String: [String: UInt64]] = [:]

    init(_ writer: ByteWriter) { self.writer = writer }

    /// - Parameter role: empty for the function itself, `c` for one it calls.
    mutating func write(_ role: String, _ function: ResolvedFunction) {
        write(role, "ob", function.module ?? "???")
        write(role, role.isEmpty ? "fl" : "fi", function.file ?? "???")
        write(role, "fn", function.name)
    }

    private mutating func write(_ role: String, _ kind: String, _ name: String) {
        // The file of a called function has another key than a function's own file, but both share their numbers.
        let space = kind == "fi" ? "fl" : kind
        let known = numbers[space, default: [:]][name]
        let number = known ?? UInt64(numbers[space, default: [:]].count + 1)
        writer.write("\(role)\(kind)=(\(number))")
        if known == nil {
            numbers[space, default: [:]][name] = number
            writer.write(byte: UInt8(ascii: " "))
            CallgrindExporter.write(name: name, writer)
        } else {
            writer.write(byte: UInt8(ascii: "\n"))
        }
    }
}
