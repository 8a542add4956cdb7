internal import TraceAnalysis
public import TraceFindings
public import TraceText

/// Writes what is known of a hang as one JSON object on one line. Times are in ns, processor time in percent of a core.
public struct HangJSON {
    private let writer: ByteWriter

    public init(_ writer: ByteWriter) { self.writer = writer }

    public func write(_ hang: Hang) {
        writer.write("{\"kind\":\"\(hang.kind.rawValue)\",\"program\":")
        writer.write(json: hang.program)
        writer.write(",\"pid\":\(hang.pid),\"thread\":\(hang.thread),\"thread_name\":")
        writer.write(json: hang.threadName)
        writer.write(
            ",\"started_ns\":\(hang.startRealtime),\"duration_ns\":\(hang.duration),\"ended\":\(hang.hasEnded)"
                + ",\"cpu_percent\":\(number(hang.cpuPercent)),\"thread_count\":\(hang.threadCount)"
                + ",\"memory_bytes\":\(hang.memory),\"path\":")
        write(hang.path)
        writer.write(",\"circle\":[\(hang.circle.map(String.init).joined(separator: ","))]")
        if let repeated = hang.repeated { write(repeated) }
        if !hang.laterPaths.isEmpty {
            writer.write(",\"later_paths\":")
            list(hang.laterPaths) { later in
                writer.write("{\"duration_ns\":\(later.duration),\"path\":")
                write(later.path)
                writer.write(byte: UInt8(ascii: "}"))
            }
        }
        writer.write(",\"threads\":")
        list(hang.threads, write)
        writer.write("}\n" as StaticString)
    }

    private func write(_ path: [HangFrame]) {
        list(path) { frame in
            writer.write("{\"name\":")
            writer.write(json: frame.name)
            writer.write(",\"ns\":\(frame.nanoseconds)}")
        }
    }

    private func write(_ repeated: RepeatedStack) {
        writer.write(",\"repeated\":{\"samples\":\(repeated.samples),\"in_a_row\":\(repeated.count),\"path\":")
        list(repeated.frames) { frame in
            writer.write("{\"name\":")
            writer.write(json: frame.name)
            writer.write(",\"repeat_count\":\(frame.count)}")
        }
        writer.write(byte: UInt8(ascii: "}"))
    }

    private func write(_ thread: Hang.Thread) {
        writer.write("{\"name\":")
        writer.write(json: thread.name)
        writer.write(",\"tid\":\(thread.tid),\"cpu_percent\":\(number(thread.cpuPercent)),\"waits_for\":")
        writer.write(json: thread.waitsFor)
        writer.write(",\"wait\":")
        writer.write(json: thread.wait)
        writer.write(",\"owner\":\(thread.owner.map(String.init) ?? "null"),\"library_calls\":")
        list(thread.libraryCalls) { writer.write(json: $0) }
        writer.write(",\"path\":")
        write(thread.path)
        writer.write(byte: UInt8(ascii: "}"))
    }

    private func list<Element>(_ elements: [Element], _ body: (Element) -> Void) {
        writer.write(byte: UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
            body(element)
        }
        writer.write(byte: UInt8(ascii: "]"))
    }

    private func number(_ percent: Double) -> String { "\((percent * 10).rounded() / 10)" }
}
