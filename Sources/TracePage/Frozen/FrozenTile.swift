internal import TraceText

/// What lanes did in a piece of time, as a page keeps it and `tiles.js` reads it.
///
/// Numbers are LEB128, in columns, which compress well: the number of lanes, and of each its index, how many rows it has, the
/// number of entries in each row, and whether waits are told. Then, of all entries, when each begins, behind the end of
/// the one before in its row; how long it is, and for how much of that no call was open; its function; and how many calls it has. Times
/// are in units. Then come the waits: a byte a column for blocked, and one for wanting a CPU.
public struct FrozenTile {
    /// One call, or a run of short ones. Those of a row follow each other without overlap.
    public struct Entry {
        public var begin: UInt64
        public var end: UInt64
        public var busy: UInt64
        public var function: UInt32
        /// 1 of a call, 0 of a piece of one, and more of a run.
        public var calls: UInt32

        public init(begin: UInt64, end: UInt64, busy: UInt64, function: UInt32, calls: UInt32) {
            (self.begin, self.end, self.busy) = (begin, end, busy)
            (self.function, self.calls) = (function, calls)
        }
    }

    /// Columns of waits that a tile has.
    public static let columns = 2048

    private let from: UInt64
    private let unit: UInt64
    private var lanes: UInt64 = 0
    private var heads: [UInt8] = []
    private var begins: [UInt8] = []
    private var lengths: [UInt8] = []
    private var idle: [UInt8] = []
    private var functions: [UInt8] = []
    private var calls: [UInt8] = []
    private var waits: [UInt8] = []
    public private(set) var entryCount = 0
    /// Whether each entry is one call.
    public private(set) var isExact = true

    /// - Parameters:
    ///   - from: where the tile begins, in ns; a multiple of `unit`.
    ///   - unit: ns that times are rounded down to.
    public init(from: UInt64, unit: UInt64) { (self.from, self.unit) = (from, unit) }

    public var isEmpty: Bool { lanes == 0 }

    /// Adds a lane.
    ///
    /// - Parameter waits: of each column which part the lane was blocked, and which it wanted a CPU, 255 for all; nil where neither
    ///   is known.
    public mutating func add(
        track: Int, rows: some Collection<some Collection<Entry>>,
        waits given: (blocked: [UInt8], wanting: [UInt8])? = nil
    ) {
        let told = given.flatMap { $0.blocked.contains { $0 > 0 } || $0.wanting.contains { $0 > 0 } ? $0 : nil }
        lanes += 1
        heads.append(leb128: UInt64(track))
        heads.append(leb128: UInt64(rows.count))
        for row in rows {
            heads.append(leb128: UInt64(row.count))
            add(row)
        }
        heads.append(leb128: told == nil ? 0 : 1)
        if let told { waits += told.blocked + told.wanting }
    }

    private mutating func add(_ row: some Collection<Entry>) {
        var last = from / unit
        for (index, entry) in row.enumerated() {
            let begin = entry.begin / unit, end = max(entry.end / unit, begin)
            // Only the first one can begin before the tile does.
            if index == 0 {
                begins.append(zigzag: Int64(begin) - Int64(last))
            } else {
                begins.append(leb128: begin &- last)
            }
            lengths.append(leb128: end - begin)
            idle.append(leb128: end - begin - min(entry.busy / unit, end - begin))
            functions.append(leb128: UInt64(entry.function))
            calls.append(leb128: UInt64(entry.calls))
            if entry.calls > 1 { isExact = false }
            last = end
        }
        entryCount += row.count
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: lanes)
        return bytes + heads + begins + lengths + idle + functions + calls + waits
    }
}
