internal import CTraceFormat

/// Adds calls up by their paths, as the runtime does, and encodes the units of one chunk.
public struct PathWriter {
    private struct Path {
        var sums: fathom_path
        var durations: [UInt64] = []
    }

    private var paths: [Path] = []
    private var numbers: [Key: Int] = [:]
    private var open: [Int] = []
    /// Units besides those of paths.
    private var others: [fathom_path] = []

    private struct Key: Hashable {
        var caller: Int
        var function: UInt64
    }

    public init() {}

    public var depth: Int { open.count }

    /// A call begins.
    ///
    /// - Parameter isInherited: it had begun before it was recorded.
    public mutating func enter(_ function: UInt64, at time: UInt64, isInherited: Bool = false) {
        let key = Key(caller: open.last ?? -1, function: function)
        let number = numbers[key] ?? paths.count
        if number == paths.count {
            var sums = fathom_path()
            sums.unit = UInt16(FATHOM_UNIT_PATH)
            sums.path = key.caller < 0 ? FATHOM_NO_PATH : UInt32(key.caller)
            (sums.function, sums.first, sums.shortest) = (function, time, .max)
            paths.append(Path(sums: sums))
            numbers[key] = number
        }
        open.append(number)
        paths[number].sums.moment =
            time << UInt64(FATHOM_PATH_SHIFT) | UInt64(FATHOM_PATH_OPEN)
            | (isInherited ? UInt64(FATHOM_PATH_INHERITED) : 0)
        if !isInherited { paths[number].sums.calls += 1 }
    }

    /// The innermost call ends, which is no inherited one.
    public mutating func exit(at time: UInt64) {
        let number = open.removeLast()
        let ticks = time - paths[number].sums.moment >> UInt64(FATHOM_PATH_SHIFT)
        paths[number].sums.moment = time << UInt64(FATHOM_PATH_SHIFT)
        paths[number].sums.total += ticks
        paths[number].sums.shortest = min(paths[number].sums.shortest, ticks)
        paths[number].sums.longest = max(paths[number].sums.longest, ticks)
        paths[number].durations.append(ticks)
    }

    /// Calls below the innermost open call that had no paths of their own.
    public mutating func fold(_ calls: UInt64) {
        var unit = fathom_path()
        unit.unit = UInt16(FATHOM_UNIT_FOLDED)
        unit.path = open.last.map { UInt32($0) } ?? FATHOM_NO_PATH
        unit.calls = calls
        others.append(unit)
    }

    /// Makes a path say something else than what was added up.
    ///
    /// - Parameter number: in the order in which paths were first called.
    public mutating func spoil(_ number: Int, caller: UInt32? = nil, total: UInt64? = nil) {
        if let caller { paths[number].sums.path = caller }
        if let total { paths[number].sums.total = total }
    }

    /// The chunk's payload.
    public func bytes(tree: UInt32 = 0, keepsTimes: Bool = true) -> [UInt8] {
        var head = fathom_paths_head()
        head.tree = tree
        head.keeps = UInt64(keepsTimes ? FATHOM_KEEPS_TIMES : FATHOM_KEEPS_COUNTS)
        var bytes = withUnsafeBytes(of: head) { Array($0) }
        for path in paths.map(\.sums) + others { withUnsafeBytes(of: path) { bytes.append(contentsOf: $0) } }
        for (number, path) in paths.enumerated() where path.durations.count > 2 {
            for unit in PathWriter.units(of: path.durations, number) {
                withUnsafeBytes(of: unit) { bytes.append(contentsOf: $0) }
            }
        }
        return bytes
    }

    private static func units(of durations: [UInt64], _ number: Int) -> [fathom_durations] {
        var units: [UInt32: fathom_durations] = [:]
        for ticks in durations {
            let bucket = fathom_duration_bucket(ticks)
            let first = min(
                bucket / FATHOM_DURATIONS_SIZE * FATHOM_DURATIONS_SIZE, FATHOM_BUCKETS - FATHOM_DURATIONS_SIZE)
            var unit = units[first] ?? fathom_durations()
            unit.unit = UInt16(FATHOM_UNIT_DURATIONS)
            unit.first = UInt16(first)
            unit.path = UInt32(number)
            withUnsafeMutableBytes(of: &unit.counts) { $0.bindMemory(to: UInt16.self)[Int(bucket - first)] += 1 }
            units[first] = unit
        }
        return units.sorted { $0.key < $1.key }.map(\.value)
    }
}
