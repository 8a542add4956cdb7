internal import TraceAnalysis
internal import TraceFile
public import TraceFindings

extension FlameChart {
    /// Adds, for the threads that have calls in the chart, when they had no CPU, what they waited for, and who ended that.
    ///
    /// - Parameter names: the waits of the chart's threads, in the same order.
    /// - Complexity: O(n log n) in the number of waits.
    public mutating func show(_ names: NamedWaits) {
        let waits = names.waits
        let bands = waits.threads.map { band(of: $0) }
        var byThread = [[Wait]](repeating: [], count: waits.threads.count)
        for wait in waits.waits { if case .call = wait.kind { byThread[wait.thread].append(wait) } }
        for (index, thread) in waits.threads.enumerated() {
            guard let band = bands[index], let offCPU = thread.offCPU() else { continue }
            var next = 0
            let known = byThread[index].map { (begin: thread.own($0.begin), end: thread.own($0.end), wait: $0) }
            add(
                to: band,
                (0..<offCPU.count).map { place in
                    let stretch = offCPU[place]
                    var state = FlameTimeline.State(
                        begin: stretch.begin, length: stretch.end - stretch.begin, wantsCPU: stretch.wantsCPU)
                    while next < known.count, known[next].end <= stretch.begin { next += 1 }
                    guard !stretch.wantsCPU, next < known.count, known[next].begin <= stretch.begin else {
                        return state
                    }
                    let wait = known[next].wait
                    state.text = names.subject(wait)
                    guard let wake = wait.wake.map({ waits.wakes[$0] }) else { return state }
                    let path = names.path(wake.path).joined(separator: " → ")
                    let waker = waits.threads[wake.thread]
                    state.waker = (
                        bands[wake.thread], waker.own(wake.moment), path.isEmpty ? names.thread(wake.thread) : path
                    )
                    return state
                })
        }
        keepLongestStates(FlameChart.mostCalls)
    }
}
