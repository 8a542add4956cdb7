internal import TraceFile
internal import TraceText

/// When each thread had which CPU, as the kernel's own events (`ftrace_event.proto`, `sched.proto`), of which the viewer makes a track for
/// each CPU and the states of threads.
///
/// What other programs did on a CPU is not known; it is written as idle then.
struct PerfettoSchedule {
    private enum Field {
        enum Trace { static let packet: UInt64 = 1 }
        enum Packet { static let bundle: UInt64 = 1 }
        enum Bundle { static let (cpu, event) = (UInt64(1), UInt64(2)) }
        enum Event { static let (timestamp, pid, schedSwitch) = (UInt64(1), UInt64(2), UInt64(4)) }
        enum Switch {
            static let (previousName, previous, previousPriority, previousState) =
                (UInt64(1), UInt64(2), UInt64(3), UInt64(4))
            static let (nextName, next, nextPriority) = (UInt64(5), UInt64(6), UInt64(7))
        }
    }

    private struct Task {
        var tid: UInt64
        var name: String

        static let idle = Task(tid: 0, name: "swapper")
    }

    /// The states that the kernel writes of a thread that leaves a CPU.
    private static let runnable: UInt64 = 0, blocked: UInt64 = 1
    /// That of ordinary threads; which one a thread has is not recorded.
    private static let priority: UInt64 = 120
    /// Events in a packet.
    private static let bundleSize = 4096

    private let writer: ByteWriter
    private let source: ExportSource

    init(_ writer: ByteWriter, _ source: ExportSource) {
        self.writer = writer
        self.source = source
    }

    /// Writes nothing where the kernel did not tell.
    func write() {
        guard let log = source.session.switches else { return }
        var byCPU: [UInt16: [(change: ThreadSwitch, task: Task)]] = [:]
        for (process, threads) in source.selection {
            for thread in threads where thread.task == nil {
                let task = Task(
                    tid: UInt64(thread.tid), name: thread.name.isEmpty ? process.programName : thread.name)
                for change in log.switches(of: thread.tid) where source.window?.contains(change.time) ?? true {
                    byCPU[change.cpu, default: []].append((change, task))
                }
            }
        }
        for (cpu, changes) in byCPU.sorted(by: { $0.key < $1.key }) where !writer.isClosed {
            write(changes.sorted(by: isBefore), cpu)
        }
    }

    /// A thread leaves before another comes.
    private func isBefore(_ one: (change: ThreadSwitch, task: Task), _ other: (change: ThreadSwitch, task: Task))
        -> Bool
    {
        (one.change.time, one.change.isOut ? 0 : 1) < (other.change.time, other.change.isOut ? 0 : 1)
    }

    private func write(_ changes: [(change: ThreadSwitch, task: Task)], _ cpu: UInt16) {
        var bundle = ProtobufMessage()
        var size = 0
        var current = Task.idle
        func add(_ next: Task, state: UInt64, at time: UInt64) {
            var change = ProtobufMessage()
            change.add(Field.Switch.previousName, current.name)
            change.add(Field.Switch.previous, current.tid)
            change.add(Field.Switch.previousPriority, Self.priority)
            change.add(Field.Switch.previousState, state)
            change.add(Field.Switch.nextName, next.name)
            change.add(Field.Switch.next, next.tid)
            change.add(Field.Switch.nextPriority, Self.priority)
            var event = ProtobufMessage()
            event.add(Field.Event.timestamp, time)
            event.add(Field.Event.pid, current.tid)
            event.add(Field.Event.schedSwitch, change)
            if size == 0 {
                bundle.clear()
                bundle.add(Field.Bundle.cpu, UInt64(cpu))
            }
            bundle.add(Field.Bundle.event, event)
            size += 1
            if size == Self.bundleSize { flush() }
            current = next
        }
        func flush() {
            guard size > 0 else { return }
            size = 0
            var packet = ProtobufMessage(), trace = ProtobufMessage()
            packet.add(Field.Packet.bundle, bundle)
            trace.add(Field.Trace.packet, packet)
            writer.write(trace.bytes)
        }
        for (change, task) in changes where !writer.isClosed {
            if !change.isOut {
                // Whoever was there has left, although that switch is lost.
                if current.tid != task.tid { add(task, state: Self.runnable, at: change.time) }
            } else if current.tid == task.tid {
                add(.idle, state: change.wantsCPU ? Self.runnable : Self.blocked, at: change.time)
            }
        }
        flush()
    }
}
