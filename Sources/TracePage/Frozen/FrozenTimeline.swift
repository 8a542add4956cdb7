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

    public init(origin: UInt64) { self.origin = origin }

    /// Bytes of a page that it takes.
    public var size: Int { levels.reduce(0) { $0 + $1.size + 100 } }

    /// In ns, what the calls are shorter than that are told together; 0 where each call is told; nil where there is nothing.
    public var finest: UInt64? { levels.last.map { $0.isExact && rows == nil ? 0 : $0.step } }

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
