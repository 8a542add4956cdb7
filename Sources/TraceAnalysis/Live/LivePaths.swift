internal import TraceFile

/// Finds one thread's open calls among the call paths that it keeps.
///
/// A path tells when its open call began. The innermost of a stack's open paths leads to all others of that stack.
struct LivePaths {
    /// A path's unit, by the number that it has in its tree.
    private struct Place {
        var caller: UInt32?
        var function: UInt64
        var moment: UInt64
        var isOpen: Bool
        var isInherited: Bool
    }

    /// - Parameter chunks: all of the thread's that hold paths.
    /// - Returns: nil when they changed too much while they were read.
    /// - Complexity: O(paths of the thread).
    static func thread(of chunks: [LiveChunk], in buffers: LiveBuffers) -> LiveThread? {
        // While the thread goes on, units are read at different moments. Callees are read before their callers, so most of the
        // time what is open fits together; where it does not, another look is taken.
        for _ in 0..<4 {
            guard let places = places(of: chunks, in: buffers) else { continue }
            if let thread = thread(chunks, places) { return thread }
        }
        return nil
    }

    private static func places(of chunks: [LiveChunk], in buffers: LiveBuffers) -> [UInt32: Place]? {
        var places: [UInt32: Place] = [:]
        var tree: UInt32?
        for chunk in chunks.sorted(by: { $0.sequence > $1.sequence }) {
            guard let bytes = buffers.copy(0..<chunk.used, of: chunk) else { return nil }
            let isWhole = bytes.withUnsafeBytes { bytes in
                guard let units = PathUnits(bytes) else { return false }
                // The newest tree is the one that the thread adds to.
                if units.tree != tree ?? units.tree { return true }
                tree = units.tree
                units.forEach { index, unit in
                    guard unit.kind == .path else { return }
                    places[units.first + UInt32(index)] = Place(
                        caller: unit.path, function: unit.function, moment: unit.moment, isOpen: unit.isOpen,
                        isInherited: unit.isInherited)
                }
                return true
            }
            guard isWhole, buffers.again(chunk) != nil else { return nil }
        }
        return places
    }

    private static func thread(_ chunks: [LiveChunk], _ places: [UInt32: Place]) -> LiveThread? {
        let open = places.filter(\.value.isOpen)
        let callers = Set(open.values.compactMap(\.caller))
        var stacks: [[LiveCall]] = []
        for (number, _) in open where !callers.contains(number) {
            var calls: [LiveCall] = [], next: UInt32? = number, isRoot = false
            while let current = next, let place = open[current], calls.count <= open.count {
                calls.append(
                    LiveCall(
                        function: place.function, callSite: 0, enterTicks: place.moment,
                        isInherited: place.isInherited))
                next = place.caller
                isRoot = next == nil
            }
            guard isRoot else { return nil }
            stacks.append(calls.reversed())
        }
        // The stack that runs is the one that did something last, as far as that can be told.
        stacks.sort { ($0.last?.enterTicks ?? 0) > ($1.last?.enterTicks ?? 0) }
        guard let first = chunks.max(by: { $0.sequence < $1.sequence }) else { return nil }
        var parked: [UInt32: [LiveCall]] = [:]
        for (index, stack) in stacks.dropFirst().enumerated() { parked[UInt32(index + 1)] = stack }
        return LiveThread(
            process: first.process, serial: first.thread, pid: first.pid, tid: first.tid, name: first.threadName,
            lane: 0, calls: stacks.first ?? [], parked: parked,
            lastTicks: places.values.reduce(0) { max($0, $1.moment) }, marks: [], ended: [], hasMissedRecords: true)
    }
}
