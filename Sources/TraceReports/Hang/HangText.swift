public import TraceAnalysis
public import TraceText

/// Writes what is known of a hang for people.
public struct HangText {
    private let writer: ByteWriter

    public init(_ writer: ByteWriter) { self.writer = writer }

    /// The first line alone: what it is, of whom, and for how long.
    public static func heading(_ hang: Hang) -> String {
        let time = String(time: hang.duration), thread = label(hang.thread, hang.threadName)
        let place = hang.path.last.map { ", in \($0.name)" } ?? ""
        let process = "\(hang.program) (pid \(hang.pid))"
        let rest = hang.hasEnded ? "" : "; it goes on"
        return switch hang.kind {
        case .hang: "hang: \(thread) of \(process) has been busy with one call for \(time)\(place)\(rest)"
        case .launch:
            "launch: \(thread) of \(process), which is starting, has been busy with one call for \(time)\(place)\(rest)"
        case .deadlock:
            "deadlock: threads of \(process) wait for each other: \(hang.circle.map(String.init).joined(separator: ", "))"
        case .cpu:
            "cpu: \(process) used \(percent(hang.cpuPercent)) of a core, for \(time) or longer; most was used by \(thread)\(place)"
        case .threads:
            "threads: \(thread) of \(process), which has \(hang.threadCount) threads, has been busy with one call for \(time)\(rest)"
        case .pool: "pool: all threads of \(process) that run tasks have been busy with one each for \(time)"
        case .killed: "killed: \(process) was killed when \(thread) had been busy with one call for \(time)\(place)"
        }
    }

    public func write(_ hang: Hang) {
        writer.write(HangText.heading(hang) + "\n")
        let began = DateText.utc(secondsSinceEpoch: hang.startRealtime / 1_000_000_000)
        writer.write(
            "began \(began); the process \(hang.kind == .cpu ? "used" : "uses") \(HangText.percent(hang.cpuPercent)) of a core, "
                + "has \(hang.threadCount) thread\(hang.threadCount == 1 ? "" : "s") and \(hang.memory >> 20) MB in memory\n"
        )
        if hang.kind == .threads {
            writer.write("with so many threads, no paths were taken; --max-threads allows more\n")
        }
        for (index, tid) in hang.circle.enumerated() {
            let thread = hang.threads.first { $0.tid == tid }
            let next = hang.circle[(index + 1) % hang.circle.count]
            writer.write(
                "\(HangText.label(tid, thread?.name ?? "")) waits for \(next == tid ? "itself" : "\(next)"): "
                    + "\(thread?.waitsFor ?? "it is not known what for")\n")
        }
        if !hang.path.isEmpty {
            writer.write("\n\(HangText.label(hang.thread, hang.threadName)), open calls:\n")
            write(hang.path)
        }
        if let repeated = hang.repeated {
            writer.write(
                "\nseen most often in the last \(repeated.samples) samples, \(min(repeated.count, repeated.samples)) times in a row:\n"
            )
            for (depth, frame) in repeated.frames.enumerated() {
                writer.write(decimal: UInt64(frame.count), width: 11)
                writer.write(spaces: 2 + 2 * min(depth, HangText.deepest))
                writer.write("\(frame.name)\n")
            }
        }
        for later in hang.laterPaths {
            writer.write("\nafter \(String(time: later.duration)):\n")
            write(later.path)
        }
        for thread in hang.threads { write(thread) }
    }

    /// Deeper calls are not indented any further.
    private static let deepest = 40

    private func write(_ path: [HangFrame]) {
        for (depth, frame) in path.enumerated() {
            writer.write(time: frame.nanoseconds, width: 11)
            writer.write(spaces: 2 + 2 * min(depth, HangText.deepest))
            writer.write("\(frame.name)\n")
        }
    }

    private func write(_ thread: Hang.Thread) {
        writer.write("\n\(HangText.label(thread.tid, thread.name)) ")
        writer.write(
            thread.waitsFor.map { "waits for \($0)" }
                ?? "does not wait; it uses \(HangText.percent(thread.cpuPercent)) of a core")
        if !thread.libraryCalls.isEmpty { writer.write(" [\(thread.libraryCalls.joined(separator: " < "))]") }
        writer.write("\n")
        write(thread.path)
    }

    private static func label(_ tid: UInt32, _ name: String) -> String {
        name.isEmpty ? "thread \(tid)" : "thread \(tid) (\(name.visible))"
    }

    private static func percent(_ value: Double) -> String { "\(Int(value.rounded())) %" }
}
