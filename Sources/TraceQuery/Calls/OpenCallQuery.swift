public import TraceAnalysis
public import TraceFile

/// A call that was open at some moment, as a tree tells it, with its callers.
public struct CallInPath {
    public let call: TreeCall
    /// The functions of its callers, outermost first.
    public let callers: [UInt32]
}

extension SessionQuery {
    /// The call of `thread` that was open at a moment, in ns since the session's start, in the thread's own time; nil where none was.
    ///
    /// - Parameter row: its depth in the tree, as this query's filter leaves it.
    /// - Complexity: as of ``CallTree/walk(_:_:)`` for a stretch of no length.
    public func call(of thread: TracedThread, row: UInt32, at moment: UInt64) -> CallInPath? {
        var layout = TreeLayout()
        layout.folds = false
        var finder = Finder(row: row, moment: moment)
        CallsQuery(part(moment..<moment), of: [(process: thread.process, threads: [thread])], layout: layout).walk(
            &finder)
        return finder.found
    }

    /// Of the calls that a moment touches, takes the one that goes on behind it, if there is one.
    private struct Finder: TreeVisitor {
        let row: UInt32
        let moment: UInt64
        var found: CallInPath?
        private var callers: [UInt32] = []

        init(row: UInt32, moment: UInt64) {
            self.row = row
            self.moment = moment
        }

        var wantsMore: Bool { true }
        mutating func begin(_ process: TracedProcess) {}
        mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
        mutating func begin(lane: UInt32) { callers = [] }

        mutating func enter(_ call: TreeCall) {
            if call.depth == row, call.start <= moment { found = CallInPath(call: call, callers: callers) }
            callers.append(call.function)
        }

        mutating func leave(_ call: TreeCall) { callers.removeLast() }
        mutating func endLane(hidden: CallSum) {}
        mutating func endThread() {}
        mutating func endProcess() {}
    }
}
