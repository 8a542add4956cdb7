internal import TraceAnalysis

/// Decides whether threads of a process are in a deadlock, and whether it is a new one. A process has one judge.
struct DeadlockJudge {
    /// The threads that waited for each other at the last look.
    private var last: [UInt32]?
    /// The deadlock that was reported, until it is over.
    private(set) var reported: [UInt32]?

    /// Finds threads that wait for each other.
    ///
    /// - Parameter findings: what each thread of the process waits for.
    /// - Returns: The threads, each waiting for the next; nil when there are none.
    static func circle(_ findings: [Int32: WaitFinder.Finding]) -> [UInt32]? {
        WaitCircle.find(
            findings.reduce(into: [:]) { owners, finding in
                owners[UInt32(bitPattern: finding.key)] = finding.value.wait?.owner
            })
    }

    /// Finds threads that wait for each other now, as they did when this was called before. A single look is not enough: it
    /// reads locks one after the other, and these may never have made a circle at one moment.
    ///
    /// - Returns: The threads, as ``circle(_:)`` does; nil when there are none, or when they were reported already.
    mutating func newCircle(_ findings: [Int32: WaitFinder.Finding]) -> [UInt32]? {
        let found = DeadlockJudge.circle(findings)
        defer { last = found }
        if found == nil { reported = nil }
        return found == last && found != reported ? found : nil
    }

    mutating func noteReported(_ circle: [UInt32]) { reported = circle }
}
