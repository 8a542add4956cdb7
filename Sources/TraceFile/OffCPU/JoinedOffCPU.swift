/// When something had no CPU that moves between threads, put together in the order of time. Moments are ns since the session's
/// start, on the clock that all threads share.
public struct JoinedOffCPU {
    private var stretches: [SwitchLog.Stretch] = []

    public init() {}

    /// It was on a thread, and had no CPU when that had none.
    ///
    /// - Complexity: O(log stretches of the thread), and O(1) for each of them in that time.
    public mutating func ran(on thread: OffCPU, from start: UInt64, to end: UInt64) {
        for index in thread.indices(from: start, to: end) {
            let stretch = thread[index]
            add(max(stretch.begin, start), min(stretch.end, end), wantsCPU: stretch.wantsCPU)
        }
    }

    /// It was on no thread.
    public mutating func waited(from start: UInt64, to end: UInt64) { add(start, end, wantsCPU: false) }

    private mutating func add(_ begin: UInt64, _ end: UInt64, wantsCPU: Bool) {
        if end > begin { stretches.append(SwitchLog.Stretch(begin: begin, end: end, wantsCPU: wantsCPU)) }
    }

    public var times: OffCPU { OffCPU(stretches) { $0 } }
}
