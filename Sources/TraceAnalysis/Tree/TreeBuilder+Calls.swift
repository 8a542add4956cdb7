internal import TraceFile

/// What is kept of calls while they are open, and of those that were open where a chunk ended.
extension TreeBuilder {
    struct Payload: BitwiseCopyable {
        var callees: UInt64 = 0
        var suspended: UInt64 = 0
        var hidden = CallSum()
        var dropped = CallSum()
        /// Its depth in the tree that is shown.
        var depth: UInt32 = 0
        /// Index in the lane's arena, or one of the values below.
        var node = Payload.noNode
        /// Index in `outcomes`, or -1.
        var outcome: Int32 = -1
        var standing = Standing(role: .outside)

        static let noNode: Int32 = -1
        /// The node was handed out already.
        static let goneNode: Int32 = -2
        /// This is not a call but the base of a lane.
        static let baseNode: Int32 = -3
    }

    /// What a call is to the filter and to the watch list. It is one word, which is stored at once: a load of fields
    /// that were stored one by one would wait until all of them have left the store buffer.
    struct Standing: BitwiseCopyable {
        private var bits: UInt32

        init(role: Role, leads: Bool = false, watchedAbove: UInt8 = Standing.unwatched, limits: UInt32 = 0) {
            bits = UInt32(role.rawValue) | (leads ? Self.leading : 0) | (watchedAbove == 0 ? Self.leadingToWatched : 0)
            bits |= UInt32(watchedAbove) << 24 | limits
        }

        @inline(__always) var role: Role { Role(rawValue: UInt8(bits & 3)) ?? .outside }
        var leads: Bool { bits & Self.leading != 0 }
        /// Whether it is a watched call, or above one.
        var leadsToWatched: Bool { bits & Self.leadingToWatched != 0 }
        /// How many levels above it the innermost watched call is that it is in, 0 for a watched one, or `unwatched`.
        var watchedAbove: UInt8 { UInt8(bits >> 24) }

        /// What the triggers of a ``TreeFilter`` say of the call, and of those below it; 0: nothing.
        var limits: UInt32 { bits & Self.limiting }
        /// Whether it is shown whatever its cost is.
        var isKept: Bool { bits & Self.kept != 0 }
        /// Whether it lies too deep to be shown or, if it is transparent, its caller does.
        var isTooDeep: Bool { bits & Self.tooDeep != 0 }
        /// Index of the least cost that holds below it; 0 for that of the filter.
        var minCost: Int { Int(bits >> Self.minCostShift & Self.minCostMask) }
        /// How many levels below it are shown; nil where the filter's greatest depth holds.
        var levels: UInt32? {
            let levels = bits >> Self.levelsShift & Self.levelsMask
            return levels == 0 ? nil : levels - 1
        }

        mutating func lead() { bits |= Self.leading }
        mutating func leadToWatched() { bits |= Self.leadingToWatched }
        mutating func keep() { bits |= Self.kept }

        /// - Parameter levels: 0...``CallTrigger/deepest``.
        static func limits(isKept: Bool, isTooDeep: Bool, minCost: Int, levels: UInt32?) -> UInt32 {
            let levels = levels.map { min($0, CallTrigger.deepest) + 1 } ?? 0
            return (isKept ? kept : 0) | (isTooDeep ? tooDeep : 0) | UInt32(minCost) << minCostShift
                | levels << levelsShift
        }

        static let unwatched: UInt8 = .max
        private static let minCostShift: UInt32 = 2, minCostMask: UInt32 = 15
        private static let kept: UInt32 = 1 << 6
        private static let tooDeep: UInt32 = 1 << 7
        private static let leading: UInt32 = 1 << 8
        private static let leadingToWatched: UInt32 = 1 << 9
        private static let levelsShift: UInt32 = 10, levelsMask: UInt32 = (1 << 14) - 1
        private static let limiting = minCostMask << minCostShift | kept | tooDeep | levelsMask << levelsShift
    }

    /// What a call is to the filter.
    enum Role: UInt8, BitwiseCopyable {
        /// It is above the functions asked for, or it is the base of a lane.
        case outside
        /// It may be shown.
        case candidate
        /// It is left out, but its callees are not.
        case transparent
        /// It is left out with its callees.
        case without
    }

    /// What became of a call that was open where a chunk ended.
    struct Outcome {
        var total: UInt64
        var selfTime: UInt64
        var suspended: UInt64
        var hidden: CallSum
        var dropped: CallSum
        var offCPU: OffCPUTimes
        /// What it did with memory, if that is asked for.
        var memory = MemorySums()
        var state: CallState
        var isShown: Bool

        init(
            _ call: UnsafeMutablePointer<OpenCall<Payload>>, total: UInt64, offCPU: OffCPUTimes = OffCPUTimes(),
            state: CallState, isShown: Bool
        ) {
            let callees = call.pointee.payload.callees
            let own = total > callees ? total &- callees : 0
            // The left-out time was rounded by itself, so it may not exceed what is there.
            let droppedTime = min(call.pointee.payload.dropped.time, own)
            self.total = total
            self.offCPU = offCPU
            self.selfTime = own &- droppedTime
            self.suspended = call.pointee.payload.suspended
            self.hidden = call.pointee.payload.hidden
            self.dropped = CallSum(calls: call.pointee.payload.dropped.calls, time: droppedTime)
            self.state = state
            self.isShown = isShown
        }
    }
}
