/// What a session keeps of the calls.
public enum SessionContent: Sendable, Equatable {
    /// Each of them.
    case calls
    /// What those of each path add up to.
    case paths
    /// How many there are of each path.
    case counts
    /// In how many samples of the stacks each path was; a sample stands for `period` ns.
    case samples(period: UInt64)
    /// The first call of each function: when, in which thread and from where, but not how long.
    case firstCalls

    /// What the chunks of the first thread show that is not empty.
    init(of processes: [TracedProcess], _ description: SessionDescription?) {
        let mode = description?.option(.mode)
        if mode == RecordOptions.Mode.firstCalls.rawValue {
            self = .firstCalls
            return
        }
        let threads = processes.lazy.flatMap(\.threads)
        guard let thread = threads.first(where: { !$0.chunks.isEmpty }), thread.keepsPaths else {
            // The recorder alone knows of a program that has not been sampled yet.
            let interval = description?.option(.interval).flatMap { UInt64($0) }
            self = mode == RecordOptions.Mode.stack.rawValue ? .samples(period: interval ?? 0) : .calls
            return
        }
        let units = thread.hold(chunk: 0) ? thread.chunks[0].pathUnits : nil
        self = units?.samplePeriod.map { .samples(period: $0) } ?? (units?.keepsTimes == false ? .counts : .paths)
    }

    /// Whether it is known of a running thread which of its calls are open.
    public var tellsOpenCalls: Bool { self == .calls || self == .paths }

    /// Whether there are times, and not only numbers of calls.
    public var keepsTimes: Bool { self != .counts }

    /// Where it is made of samples, the time that one stands for, in ns.
    public var samplePeriod: UInt64? { if case .samples(let period) = self { period } else { nil } }
}
