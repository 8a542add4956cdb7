internal import TraceAnalysis

/// What a file for a viewer is going to hold, known before it is written.
public struct ExportForecast {
    /// The number of calls.
    public let calls: UInt64
    /// The size of the file in bytes, not compressed, to about a tenth.
    public let bytes: UInt64
    /// The number of calls that the viewer cannot nest.
    let tooDeep: UInt64
    private let limit: ViewerLimit
    private let slots: [Slot]

    /// Calls of a range of durations.
    fileprivate struct Slot {
        var calls: UInt64 = 0
        var bytes: UInt64 = 0
    }

    /// 1, 2, 5, 10, ... ns up to 500 s: times that people type. Slot i has the calls below `bounds[i]`, the last slot the
    /// rest.
    fileprivate static let bounds: [UInt64] = (0..<12).flatMap { power in
        let unit = (0..<power).reduce(UInt64(1)) { scale, _ in scale * 10 }
        return [unit, 2 * unit, 5 * unit]
    }

    /// Reads all of `source`; nil for a format whose viewers have no limit.
    ///
    /// - Complexity: O(records); memory as ``CallTree`` says.
    public init?(_ format: ExportFormat, of source: ExportSource) {
        guard let exporter = format.exporter, let limit = type(of: exporter).limit else { return nil }
        self.init(limit, of: source)
    }

    init(_ limit: ViewerLimit, of source: ExportSource) {
        self.limit = limit
        var counter = CallCounter(limit, source.functions)
        tooDeep = source.write(to: &counter, limit: limit).tooDeep
        slots = counter.slots
        calls = slots.reduce(0) { $0 + $1.calls }
        bytes = slots.reduce(counter.tableBytes) { $0 + $1.bytes }
    }

    /// Whether the viewer takes the file.
    var fits: Bool { calls <= limit.calls && bytes <= limit.bytes }

    /// The number of calls that a file holds which the viewer takes, if its calls are like these.
    public var callsThatFit: UInt64 {
        guard bytes > limit.bytes, calls > 0 else { return limit.calls }
        return max(1, min(limit.calls, UInt64(Double(limit.bytes) / (Double(bytes) / Double(calls)))))
    }

    /// Says what the viewer will not show or will be too slow for, each time with the option that helps.
    ///
    /// - Parameter canSplit: the calls can be split over several files.
    public func warnings(canSplit: Bool) -> [String] {
        var result: [String] = []
        if tooDeep > 0 {
            result.append(
                "\(limit.viewer) nests \(limit.depth) calls at most: \(tooDeep) deeper calls are left out; "
                    + "--filter FUNCTION makes the calls of a deep function roots")
        }
        guard !fits else { return result }
        var text =
            "the file has \(calls) calls and about \(ExportForecast.megabytes(bytes)): \(limit.viewer) takes about "
            + "\(limit.calls) calls and \(ExportForecast.megabytes(limit.bytes))"
        var left = (calls: calls, bytes: bytes)
        for (slot, bound) in zip(slots, ExportForecast.bounds) {
            left.calls &-= slot.calls
            left.bytes &-= slot.bytes
            guard left.calls <= limit.calls, left.bytes <= limit.bytes else { continue }
            text +=
                "; --min-cost \(ExportForecast.typed(bound)) leaves \(left.calls) and "
                + ExportForecast.megabytes(left.bytes)
            break
        }
        if canSplit { text += "; --split writes several files" }
        if limit.namesPerCall > 0, bytes > limit.bytes, bytes > 2 * calls * limit.callBytes {
            text += "; --format perfetto has each name once"
        }
        result.append(text)
        return result
    }

    private static func megabytes(_ bytes: UInt64) -> String { "\((bytes + 500_000) / 1_000_000) MB" }

    /// `nanoseconds` as it is typed: 500ns, 20us, 1ms.
    private static func typed(_ nanoseconds: UInt64) -> String {
        for (scale, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")] as [(UInt64, String)]
        where nanoseconds >= scale {
            return "\(nanoseconds / scale)\(unit)"
        }
        return "\(nanoseconds)ns"
    }
}

/// Counts calls and their bytes by duration.
private struct CallCounter: TrackWriter {
    private let limit: ViewerLimit
    private let functions: FunctionTable
    /// Bytes of each function's calls, 0 for one that was not called.
    private var callBytes: [UInt64] = []
    private(set) var slots = [ExportForecast.Slot](
        repeating: ExportForecast.Slot(), count: ExportForecast.bounds.count + 1)
    /// Bytes of the functions themselves, where the file has each once.
    private(set) var tableBytes: UInt64 = 0

    init(_ limit: ViewerLimit, _ functions: FunctionTable) {
        self.limit = limit
        self.functions = functions
    }

    var wantsMore: Bool { true }
    mutating func begin(_ track: Track) {}
    mutating func leave(_ call: TreeCall) {}
    mutating func endTrack() {}

    mutating func enter(_ call: TreeCall) {
        let index = Int(call.function)
        if index >= callBytes.count || callBytes[index] == 0 { measure(index) }
        // A decade has three slots, which is 0.9 slots a binary digit. That leads to the right slot or to one just
        // before it.
        var slot = max(0, (63 - (call.total | 1).leadingZeroBitCount) * 9 / 10 - 1)
        slot = min(slot, ExportForecast.bounds.count)
        while slot < ExportForecast.bounds.count, call.total >= ExportForecast.bounds[slot] { slot += 1 }
        slots[slot].calls &+= 1
        slots[slot].bytes &+= callBytes[index]
    }

    @inline(never)
    private mutating func measure(_ index: Int) {
        if index >= callBytes.count { callBytes += Array(repeating: 0, count: index + 1 - callBytes.count) }
        let function = functions[UInt32(index)]
        let name = UInt64(function.name.utf8.count)
        callBytes[index] = limit.callBytes + limit.namesPerCall * name
        if limit.namesPerCall == 0 { tableBytes += name + UInt64(function.file?.utf8.count ?? 0) + 40 }
    }
}
