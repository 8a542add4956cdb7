public import TraceFile

/// A phase of a start: all its stretches that were spent on the same.
public struct StartupPhase: Sendable {
    public var parts: [StartupTimeline.Part]
    public var begin: UInt64
    public var nanoseconds: UInt64 = 0
    /// Page faults; nil where nobody counted them. With the kernel's records they are those of the program's own code, and of main those
    /// of all threads.
    public var minorFaults: UInt64?
    public var majorFaults: UInt64?
    /// How long the main thread had no CPU; nil where that is not known.
    public var offCPU: OffCPUTimes?

    /// The names of its parts. Of more than one it is not known where one ended and the next began.
    public var name: String { parts.map(\.name).joined(separator: " + ") }
    /// Whether it was over when main was called.
    public var isBeforeMain: Bool { !parts.contains(.main) }

    /// How long the main thread had one.
    public var running: UInt64? { offCPU.map { nanoseconds - min($0.blocked + $0.runnable, nanoseconds) } }

    /// The phases in the order in which they began. Their times add up to the timeline's total.
    ///
    /// - Complexity: O((stretches + faults) log faults).
    public static func all(
        of timeline: StartupTimeline, notes: RecordedStart?, kernel: KernelStart?, origin: UInt64, offCPU: OffCPU?
    ) -> [StartupPhase] {
        var phases: [StartupPhase] = []
        for stretch in timeline.stretches {
            let parts = stretch.parts.map { part in
                if case .initializer = part { return StartupTimeline.Part.initializers }
                return part
            }
            var index = phases.firstIndex { $0.parts == parts } ?? phases.count
            if index == phases.count {
                phases.append(StartupPhase(parts: parts, begin: stretch.begin))
                index = phases.count - 1
            }
            phases[index].nanoseconds += stretch.length
            // The kernel tells of switches from exec on.
            if let offCPU, !parts.contains(.fork) {
                var times = phases[index].offCPU ?? OffCPUTimes()
                times.add(offCPU.times(from: stretch.begin, to: stretch.end))
                phases[index].offCPU = times
            }
            guard let faults = StartupPhase.faults(in: stretch, notes, kernel, origin) else { continue }
            phases[index].minorFaults = (phases[index].minorFaults ?? 0) + faults.minor
            phases[index].majorFaults = (phases[index].majorFaults ?? 0) + faults.major
        }
        return phases
    }

    private static func faults(
        in stretch: StartupTimeline.Stretch, _ notes: RecordedStart?, _ kernel: KernelStart?, _ origin: UInt64
    ) -> (minor: UInt64, major: UInt64)? {
        if let kernel, kernel.refusal == nil {
            if stretch.parts == [.fork] { return nil }
            let (low, high) = (stretch.begin + origin, stretch.end + origin)
            var found: (minor: UInt64, major: UInt64) = (0, 0)
            for fault in kernel.faults[kernel.firstFault(from: low)...] {
                guard fault.time < high else { break }
                if fault.isMajor { found.major += 1 } else { found.minor += 1 }
            }
            return found
        }
        guard let notes, stretch.parts.count == 1 else { return nil }
        if case .initializer(let index) = stretch.parts[0] {
            let part = notes.initializers[index]
            return (
                part.end.minorFaults - min(part.begin.minorFaults, part.end.minorFaults),
                part.end.majorFaults - min(part.begin.majorFaults, part.end.majorFaults)
            )
        }
        return nil
    }
}

extension KernelStart {
    /// The index of the first page fault that is not before a moment.
    func firstFault(from moment: UInt64) -> Int {
        faults.partitioningIndex { $0.time >= moment }
    }
}

extension StartupTimeline.Part {
    /// What people call it, and histories.
    public var name: String {
        switch self {
        case .fork: "fork and exec"
        case .kernel: "kernel maps"
        case .mapping: "mapping libraries"
        case .relocation: "relocation"
        case .initializer, .initializers: "initializers"
        case .between: "between initializers"
        case .recording: "recording"
        case .main: "main to end"
        }
    }
}
