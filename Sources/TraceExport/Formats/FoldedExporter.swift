internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Folded stacks: one line a call path, its functions joined by `;`, and its self time in ns; where only calls were counted,
/// their number.
///
/// The input of flamegraph.pl and inferno (B. Gregg, https://www.brendangregg.com/flamegraphs.html). Paths without self
/// time have no line. Time in callees that are not shown is a callee named as ``PathRemainder`` says.
struct FoldedExporter: Exporter {
    func refusal(_ source: ExportSource) -> String? {
        var size = PathFileSize()
        let keepsTimes = source.session.content.keepsTimes
        size.add(source.callPaths(), minTotal: source.filter.minCost, remainder: FoldedExporter.countBytes) { path in
            FoldedExporter.weight(path, keepsTimes) > 0 ? FoldedExporter.countBytes : nil
        }
        return size.refusal()
    }

    /// A space, a time of up to 10 s in ns, and a newline.
    private static let countBytes: UInt64 = 12

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        let tree = source.callPaths(), keepsTimes = source.session.content.keepsTimes
        var names = [[UInt8]?](repeating: nil, count: tree.functions.functions.count)
        var prefix: [UInt8] = []
        /// The length of `prefix` at each depth.
        var ends: [Int] = []
        var written = 0
        tree.forEachPath(minTotal: source.filter.minCost) { exported in
            written += 1
            let path = exported.path
            let name = names[Int(path.function)] ?? FoldedExporter.frame(tree.functions[path.function].name)
            names[Int(path.function)] = name
            ends.removeLast(ends.count - Int(path.depth))
            prefix.removeLast(prefix.count - (ends.last ?? 0))
            if !prefix.isEmpty { prefix.append(UInt8(ascii: ";")) }
            prefix += name
            ends.append(prefix.count)
            let weight = FoldedExporter.weight(path, keepsTimes)
            if weight > 0 {
                writer.write(prefix)
                FoldedExporter.end(weight, writer)
            }
            for (kind, sum) in exported.remainders where sum.time > 0 {
                writer.write(prefix)
                writer.write(byte: UInt8(ascii: ";"))
                writer.write(kind.name)
                FoldedExporter.end(sum.time, writer)
            }
        }
        return ExportSummary(written: written)
    }

    /// `name` as a frame. A `;` would end the frame, and flamegraph.pl and inferno would take a last word of digits for
    /// a second count, and compare two profiles.
    static func frame(_ name: String) -> [UInt8] {
        var bytes = name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: ";"): UInt8(ascii: ":")
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): UInt8(ascii: " ")
            default: byte
            }
        }
        let digits = bytes.reversed().prefix { "0123456789.".utf8.contains($0) }.count
        let space = bytes.count - digits - 1
        if digits > 0, space >= 0, bytes[space] == UInt8(ascii: " ") { bytes[space] = UInt8(ascii: "_") }
        return bytes
    }

    private static func weight(_ path: CallPath, _ keepsTimes: Bool) -> UInt64 {
        keepsTimes ? path.sums.selfTime : path.sums.calls
    }

    private static func end(_ weight: UInt64, _ writer: ByteWriter) {
        writer.write(byte: UInt8(ascii: " "))
        writer.write(decimal: weight)
        writer.write(byte: UInt8(ascii: "\n"))
    }
}
