import TraceFile

@testable import TraceAnalysis

/// Writes down the calls of a tree, each as a line, and adds up their times.
struct TaskTreeLines: TreeVisitor {
    let functions: FunctionTable
    var lines: [String] = []
    var selfTime: UInt64 = 0
    var rootTime: UInt64 = 0
    let wantsMore = true
    private var name = ""
    /// The faults of the call that is entered next.
    private var faults: UInt64 = 0

    init(functions: FunctionTable) { self.functions = functions }

    mutating func begin(_ process: TracedProcess) {}
    mutating func begin(_ thread: TracedThread, in space: AddressSpace) { name = thread.name }
    mutating func begin(lane: UInt32) { lines.append(name) }
    mutating func tell(_ memory: MemorySums) { faults = memory.minorFaults }
    mutating func enter(_ call: TreeCall) {
        selfTime += call.selfTime
        if call.depth == 0 { rootTime += call.total }
        let state = call.isInherited ? " inherited" : call.state == .complete ? "" : " \(call.state)"
        let name = functions[call.function].name
        let told = faults > 0 ? " faults \(faults)" : ""
        lines.append("\(call.depth) \(name) \(call.start)+\(call.total)/\(call.selfTime)\(state)\(told)")
    }
    mutating func show(_ event: TreeEvent) { lines.append("\(event.depth) -- \(event.name) \(event.moment)") }
    mutating func leave(_ call: TreeCall) {}
    mutating func endLane(hidden: CallSum) {}
    mutating func endThread() {}
    mutating func endProcess() {}
}
