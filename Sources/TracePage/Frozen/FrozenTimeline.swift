internal import TraceText

/// The tiles of a page's timeline: levels, each of the whole time, the coarsest first.
public struct FrozenTimeline {
    public struct Level {
        /// How much time a tile is, in ns.
        public var span: UInt64
        /// ns that times are rounded down to.
        public var unit: UInt64
        /// Of calls that are shorter, in ns, those that follow each other are told together.
        public var step: UInt64
        /// Whether each call is told by itself.
        public var isExact = true
        /// Packed tiles; nil for nothing.
        public var tiles: [[UInt8]?] = []

        public init(span: UInt64, unit: UInt64, step: UInt64) {
            (self.span, self.unit, self.step) = (span, unit, step)
        }

        public mutating func add(_ tile: FrozenTile) {
            isExact = isExact && tile.isExact
            tiles.append(tile.isEmpty ? nil : PackedText.of(tile.bytes))
        }

        /// Bytes of a page that it takes.
        public var size: Int { tiles.reduce(0) { $0 + ($1?.count ?? 2) + 3 } }
    }

    /// Where the first tile of each level begins, in ns.
    public var origin: UInt64
    public var levels: [Level] = []
    /// Rows that tiles have; deeper calls are left out. nil where none are.
    public var rows: Int?

    /// Bytes of a page that it takes.
    public var size: Int { levels.reduce(0) { $0 + $1.size + 100 } }

    /// In ns, what the calls are shorter than that are told together; 0 where each call is told; nil where there is nothing.
    public var finest: UInt64? { levels.last.map { $0.isExact && rows == nil ? 0 : $0.step } }

    public init(origin: UInt64) { self.origin = origin }

    /// Calls that a tile has at most, roughly, where each is told.
    private static let callsOfTile: UInt64 = 30_000
    /// Bytes that a call takes at least.
    private static let leastSize: UInt64 = 2

    /// Makes as many levels as there is room for.
    ///
    /// Where there is room for all calls, the finest level has each of them, in as many tiles as keep a tile small; there are only as
    /// many levels above it. Otherwise each level has tiles of a quarter of the time, and steps of a quarter, until there is no more room.
    ///
    /// - Parameters:
    ///   - calls: how many there are, roughly.
    ///   - room: bytes of a page.
    ///   - time: what is to be told, in ns; it is not empty.
    ///   - progress: told how much is done, 0...1.
    ///   - tile: makes the tile of a level that has this time, and so many rows at most.
    public init(
        calls: UInt64, room: Int, time: Range<UInt64>, progress: (Double) -> Void = { _ in },
        tile: (_ time: Range<UInt64>, _ level: Level, _ rows: Int?) -> FrozenTile
    ) {
        var exact: Int?
        if calls <= UInt64(room) / FrozenTimeline.leastSize {
            exact = 0
            while calls >> (2 * UInt64(exact!)) > FrozenTimeline.callsOfTile { exact! += 1 }
        }
        let columns = UInt64(FrozenTile.columns)
        var whole: UInt8 = 0
        while columns << whole < time.upperBound - time.lowerBound { whole += 1 }
        // All tiles begin at steps of the first level, so that a run of short calls is never in two of them.
        func begin() -> UInt64 { time.lowerBound & ~((1 << UInt64(whole)) - 1) }
        while begin() + (columns << whole) < time.upperBound { whole += 1 }
        origin = begin()
        /// A level; nil where it takes more bytes than there are left.
        func level(of span: UInt64, _ shift: UInt8) -> Level? {
            // What is finer than an eighth of a step is not known.
            var level = Level(span: span, unit: 1 << UInt64(max(shift, 3) - 3), step: 1 << UInt64(shift))
            let left = room - size
            var from = origin
            while from < time.upperBound {
                level.add(tile(from..<from + span, level, rows))
                if level.size > left { return nil }
                from += span
            }
            return level
        }
        for depth in 0... {
            let step = whole > 2 * UInt8(depth) ? whole - 2 * UInt8(depth) : 0
            let span = (columns << whole) >> (2 * UInt64(depth))
            var made = depth == exact ? level(of: span, 0) : nil
            if made == nil { made = level(of: span, step) }
            if depth == 0 {
                // So deep a recursion that the first rows have to do.
                for most in [4096, 1024, 256, 64, 16] where made == nil {
                    rows = most
                    made = level(of: span, step)
                }
            }
            guard let made else { break }
            levels.append(made)
            progress(min(Double(size) / Double(room), 1))
            if made.isExact || step < 2 { break }
        }
        progress(1)
    }

    func write(to json: JSONWriter) {
        json.object {
            json.field("origin", origin)
            json.field("columns", FrozenTile.columns)
            if let rows { json.field("rows", rows) }
            json.objects("levels", levels) { level in
                json.field("span", level.span)
                json.field("unit", level.unit)
                json.field("step", level.step)
                json.field("isExact", level.isExact)
                json.array("tiles", level.tiles) { tile in
                    if let tile { json.value(packed: tile) } else { json.null() }
                }
            }
        }
    }
}
