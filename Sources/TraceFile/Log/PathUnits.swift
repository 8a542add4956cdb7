internal import CTraceFormat

/// The units of one chunk of call paths, in the order of their numbers.
public struct PathUnits {
    /// Which of the thread's trees they belong to. Numbers are those of the tree.
    public let tree: UInt32
    /// The number of the first unit.
    public let first: UInt32
    /// Whether times are kept, and not only how often paths were called.
    public let keepsTimes: Bool
    /// Where paths were not called but found in samples of the stacks, the time that a sample stands for, in ns.
    public let samplePeriod: UInt64?
    private let bytes: UnsafeRawBufferPointer

    /// One unit. Times are in ticks.
    public struct Unit {
        public enum Kind: Sendable {
            /// A call path.
            case path
            /// Calls below `path` that could have no paths of their own.
            case folded
            /// The calls of `path` that had begun before they were recorded.
            case inherited
            /// A part of the durations of `path`; see ``PathUnits/durations(at:)``.
            case durations
        }

        public let kind: Kind
        /// The number of the caller's path, or of the path that the unit tells of; nil for none.
        public let path: UInt32?
        public let function: UInt64
        public let calls: UInt64
        public let total: UInt64
        /// When the open call began, or the last one ended.
        public let moment: UInt64
        public let isOpen: Bool
        /// Whether the open call had begun before it was recorded.
        public let isInherited: Bool
        public let firstTicks: UInt64
        /// The shortest call that has ended; `.max` when there is none.
        public let shortest: UInt64
        public let longest: UInt64
    }

    /// - Returns: nil for the payload of a chunk of another kind, or one that is damaged.
    package init?(_ payload: UnsafeRawBufferPointer) {
        let headSize = MemoryLayout<fathom_paths_head>.size
        guard payload.count >= headSize else { return nil }
        let head = payload.loadUnaligned(as: fathom_paths_head.self)
        tree = head.tree
        first = head.first
        keepsTimes = head.keeps != UInt64(FATHOM_KEEPS_COUNTS)
        samplePeriod = head.keeps == UInt64(FATHOM_KEEPS_SAMPLES) ? head.period_ns : nil
        let size = (payload.count - headSize) / Int(FATHOM_UNIT_SIZE) * Int(FATHOM_UNIT_SIZE)
        bytes = UnsafeRawBufferPointer(rebasing: payload[headSize..<headSize + size])
    }

    /// The places of units, some of which take two.
    public var count: Int { bytes.count / Int(FATHOM_UNIT_SIZE) }

    /// The unit at `index`; nil when it is none that can be.
    private func unit(at index: Int) -> Unit? {
        let raw = bytes.loadUnaligned(fromByteOffset: index * Int(FATHOM_UNIT_SIZE), as: fathom_path.self)
        let kind: Unit.Kind
        switch UInt32(raw.unit) {
        case FATHOM_UNIT_PATH: kind = .path
        case FATHOM_UNIT_FOLDED: kind = .folded
        case FATHOM_UNIT_INHERITED: kind = .inherited
        case FATHOM_UNIT_DURATIONS, FATHOM_UNIT_CARRIES, FATHOM_UNIT_COARSE: kind = .durations
        default: return nil
        }
        let path = kind == .durations ? durations(at: index).path : raw.path
        return Unit(
            kind: kind, path: path == FATHOM_NO_PATH ? nil : path, function: raw.function, calls: raw.calls,
            total: raw.total, moment: raw.moment >> UInt64(FATHOM_PATH_SHIFT),
            isOpen: raw.moment & UInt64(FATHOM_PATH_OPEN) != 0,
            isInherited: raw.moment & UInt64(FATHOM_PATH_INHERITED) != 0, firstTicks: raw.first,
            shortest: raw.shortest, longest: raw.longest)
    }

    private func durations(at index: Int) -> fathom_durations {
        bytes.loadUnaligned(fromByteOffset: index * Int(FATHOM_UNIT_SIZE), as: fathom_durations.self)
    }

    /// How many places the unit at `index` takes.
    private func places(at index: Int) -> Int {
        switch UInt32(bytes.loadUnaligned(fromByteOffset: index * Int(FATHOM_UNIT_SIZE), as: UInt16.self)) {
        case FATHOM_UNIT_DURATIONS, FATHOM_UNIT_CARRIES, FATHOM_UNIT_COARSE:
            MemoryLayout<fathom_durations>.size / Int(FATHOM_UNIT_SIZE)
        default: 1
        }
    }

    /// Passes the units with their places, in their order, as far as they can be understood.
    public func forEach(_ body: (_ index: Int, _ unit: Unit) -> Void) {
        var index = 0
        while index < count, index + places(at: index) <= count, let unit = unit(at: index) {
            body(index, unit)
            index += places(at: index)
        }
    }

    /// Passes how many calls took about how long, in ticks, of the unit at `index`, which is one of durations.
    public func forEachDuration(at index: Int, _ body: (_ ticks: UInt64, _ calls: UInt64) -> Void) {
        var unit = durations(at: index)
        let first = UInt32(unit.first)
        if UInt32(unit.unit) == FATHOM_UNIT_COARSE { return forEachCoarseDuration(at: index, body) }
        guard first + FATHOM_DURATIONS_SIZE <= FATHOM_BUCKETS else { return }
        let each = UInt32(unit.unit) == FATHOM_UNIT_CARRIES ? UInt64(FATHOM_CARRY) : 1
        withUnsafeBytes(of: &unit.counts) { counts in
            for (place, count) in counts.bindMemory(to: UInt16.self).enumerated() where count > 0 {
                body(fathom_bucket_middle(first + UInt32(place)), UInt64(count) * each)
            }
        }
    }

    private func forEachCoarseDuration(at index: Int, _ body: (_ ticks: UInt64, _ calls: UInt64) -> Void) {
        var unit = bytes.loadUnaligned(
            fromByteOffset: index * Int(FATHOM_UNIT_SIZE), as: fathom_coarse_durations.self)
        let first = UInt32(unit.first)
        guard first + FATHOM_COARSE_SIZE <= FATHOM_COARSE_BUCKETS else { return }
        withUnsafeBytes(of: &unit.counts) { counts in
            for (place, count) in counts.bindMemory(to: UInt32.self).enumerated() where count > 0 {
                body(fathom_coarse_middle(first + UInt32(place)), UInt64(count))
            }
        }
    }
}

/// What the units of a thread, or of one chunk, are in all.
public struct PathTotals: Sendable {
    /// Call paths.
    public package(set) var paths: UInt64 = 0
    public package(set) var calls: UInt64 = 0
    /// Calls that could have no paths, and are known to be below some path.
    public package(set) var folded: UInt64 = 0
    /// Such calls below none.
    public package(set) var lost: UInt64 = 0
    /// The last moment that is told of, in ticks.
    package var lastTicks: UInt64 = 0

    package init() {}

    /// Adds what a payload tells.
    ///
    /// - Complexity: O(units).
    package mutating func add(_ payload: UnsafeRawBufferPointer) {
        PathUnits(payload)?.forEach { _, unit in
            switch unit.kind {
            case .path:
                paths += 1
                calls &+= unit.calls
                lastTicks = max(lastTicks, unit.firstTicks, unit.moment)
            case .folded:
                if unit.path == nil { lost &+= unit.calls } else { folded &+= unit.calls }
            case .inherited, .durations: break
            }
        }
    }
}
