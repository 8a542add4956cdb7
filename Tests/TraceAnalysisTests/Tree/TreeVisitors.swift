import TraceFile

@testable import TraceAnalysis

/// Notes lines of a tree.
struct TextVisitor: TreeVisitor {
    let functions: FunctionTable
    var lines: [String] = []
    var limit = Int.max
    var wantsMore: Bool { lines.count < limit }

    init(functions: FunctionTable) { self.functions = functions }

    mutating func begin(_ process: TracedProcess) {}
    mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    mutating func begin(lane: UInt32) { if lane != 0 { lines.append("lane \(lane)") } }

    mutating func enter(_ call: TreeCall) {
        let fold = (call.calls > 1 ? " x\(call.calls)" : "") + (call.isByTurns ? " by turns" : "")
        let state = call.state == .complete ? "" : " \(call.state)"
        lines.append("\(call.depth) \(functions[call.function].name) \(call.total)/\(call.selfTime)\(fold)\(state)")
    }

    mutating func leave(_ call: TreeCall) {
        if call.hidden.calls > 0 { lines.append("  \(call.hidden.calls) calls \(call.hidden.time)") }
        if call.dropped.calls > 0 { lines.append("  \(call.dropped.calls) dropped \(call.dropped.time)") }
    }

    mutating func endLane(hidden: CallSum) {
        if hidden.calls > 0 { lines.append("  \(hidden.calls) roots \(hidden.time)") }
    }
    mutating func endThread() {}
    mutating func endProcess() {}
}

/// Adds up self times and root totals.
struct SumVisitor: TreeVisitor {
    var selfTime: UInt64 = 0
    var roots: UInt64 = 0
    var calls: UInt64 = 0
    let wantsMore = true

    mutating func begin(_ process: TracedProcess) {}
    mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    mutating func begin(lane: UInt32) {}
    mutating func enter(_ call: TreeCall) {
        selfTime += call.selfTime
        calls += call.calls
        if call.depth == 0 { roots += call.total }
    }
    mutating func leave(_ call: TreeCall) {}
    mutating func endLane(hidden: CallSum) {}
    mutating func endThread() {}
    mutating func endProcess() {}
}

/// Takes down how long calls took, and whether each came right below its caller.
struct LongestVisitor: TreeVisitor {
    private(set) var times: [UInt64] = []
    private(set) var hidden: UInt64 = 0
    private(set) var isWhole = true
    private var open: [UInt64] = []

    var wantsMore: Bool { true }
    mutating func begin(_ process: TracedProcess) {}
    mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    mutating func begin(lane: UInt32) {}
    mutating func enter(_ call: TreeCall) {
        isWhole = isWhole && Int(call.depth) == open.count && call.total <= open.last ?? .max
        open.append(call.total)
        times.append(call.total)
        hidden += call.hidden.calls
    }
    mutating func leave(_ call: TreeCall) { open.removeLast() }
    mutating func endLane(hidden: CallSum) { self.hidden += hidden.calls }
    mutating func endThread() {}
    mutating func endProcess() {}
}
