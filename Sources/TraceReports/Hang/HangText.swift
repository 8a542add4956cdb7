internal import TraceAnalysis
public import TraceFindings
public import TraceText

/// Writes what is known of a hang for people.
public struct HangText {
    private let writer: ByteWriter
    private let layout: TextLayout

    public init(_ writer: ByteWriter, layout: TextLayout = TextLayout()) {
        self.writer = writer
        self.layout = layout
    }

    /// The first line alone: what it is, of whom, and for how long.
    private static func heading(_ hang: Hang) -> String {
        let time = String(time: hang.duration), thread = label(hang.thread, hang.threadName)
        let place = hang.path.last.map { ", in \($0.name)" } ?? ""
        let process = "\(hang.program) (pid \(hang.pid))"
        let rest = hang.hasEnded ? "" : "; it goes on"
        return switch hang.kind {
        case .hang: "hang: \(thread) of \(process) has been in one call for \(time)\(place)\(rest)"
        case .launch:
            "launch: \(thread) of \(process), which is starting, has been in one call for \(time)\(place)\(rest)"
        case .deadlock:
            "deadlock: threads of \(process) wait for each other, for \(time): \(hang.circle.map(String.init).joined(separator: ", "))\(rest)"
        case .cpu:
            "cpu: \(process) used \(percent(hang.cpuPercent)) of a core, for \(time) or longer; most was used by \(thread)\(place)"
        case .threads:
            "threads: \(thread) of \(process), which has \(hang.threadCount) threads, has been in one call for \(time)\(rest)"
        case .pool: "pool: all threads of \(process) that run tasks have been in one call each for \(time)"
        case .killed: "killed: \(process) was killed when \(thread) had been in one call for \(time)\(place)"
        }
    }

    /// Writes the first line alone.
    public func writeHeading(_ hang: Hang) {
        writer.write(in: layout.style(.bold)) { sentence(HangText.heading(hang)) }
    }

    public func write(_ hang: Hang) {
        writeHeading(hang)
        let began = DateText.utc(secondsSinceEpoch: hang.startRealtime / 1_000_000_000)
        sentence(
            "began \(began); the process \(hang.kind == .cpu ? "used" : "uses") \(HangText.percent(hang.cpuPercent)) of a core, "
                + "has \(hang.threadCount) thread\(hang.threadCount == 1 ? "" : "s") and \(hang.memory >> 20) MB in memory"
        )
        if hang.kind == .threads {
            sentence("with so many threads, no stacks were taken; --max-threads allows more")
        }
        for (index, tid) in hang.circle.enumerated() {
            let thread = hang.threads.first { $0.tid == tid }
            let next = hang.circle[(index + 1) % hang.circle.count]
            sentence(
                "\(HangText.label(tid, thread?.name ?? "")) waits for \(thread?.owner == nil ? "one of them" : next == tid ? "itself" : "\(next)"): "
                    + (thread?.waitsFor ?? "it is not known what for"))
        }
        if !hang.path.isEmpty {
            writer.write("\n\(HangText.label(hang.thread, hang.threadName)), open calls:\n")
            write(hang.path)
        }
        if let repeated = hang.repeated {
            writer.write(byte: UInt8(ascii: "\n"))
            sentence(
                "seen most often in the last \(repeated.samples) samples, \(repeated.count) times in a row:"
            )
            for (depth, frame) in repeated.frames.enumerated() {
                writer.write(decimal: UInt64(frame.count), width: HangText.width)
                write(frame.name, at: depth)
            }
        }
        for later in hang.laterPaths {
            writer.write("\nafter \(String(time: later.duration)):\n")
            write(later.path)
        }
        for thread in hang.threads { write(thread) }
    }

    /// The columns of a number before a name.
    private static let width = 11

    private func sentence(_ text: String) { writer.write(layout.sentence(text + "\n")) }

    private func write(_ path: [HangFrame]) {
        for (depth, frame) in path.enumerated() {
            writer.write(time: frame.nanoseconds, width: HangText.width)
            write(frame.name, at: depth)
        }
    }

    /// Writes a name behind its number. Deep calls are not indented any further.
    private func write(_ name: String, at depth: Int) {
        let indentation = 2 + 2 * min(depth, layout.indentedLevels(behind: HangText.width + 2))
        writer.write(spaces: indentation)
        writer.write(layout.fit(name, behind: HangText.width + indentation).name)
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func write(_ thread: Hang.Thread) {
        let does =
            thread.waitsFor.map { "waits for \($0)" }
            ?? "does not wait; it uses \(HangText.percent(thread.cpuPercent)) of a core"
        let calls = thread.libraryCalls.isEmpty ? "" : " [\(thread.libraryCalls.joined(separator: " < "))]"
        writer.write(byte: UInt8(ascii: "\n"))
        sentence("\(HangText.label(thread.tid, thread.name)) \(does)\(calls)")
        write(thread.path)
    }

    private static func label(_ tid: UInt32, _ name: String) -> String {
        name.isEmpty ? "thread \(tid)" : "thread \(tid) (\(name.visible))"
    }

    private static func percent(_ value: Double) -> String { "\(Int(value.rounded())) %" }
}
