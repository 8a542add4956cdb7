internal import TraceAnalysis
internal import TraceFile
internal import TracePage
internal import TraceQuery

/// Makes the tiles of a page, as many levels as it has room for.
///
/// Where the page has room for all calls, the finest level has each of them, in as many tiles as keep a tile small; there are only as
/// many levels above it. Otherwise each level has tiles of a quarter of the time, and steps of a quarter, until there is no more room.
struct SavedTimeline {
    let pictures: PictureQuery
    /// Bytes of a page.
    let room: Int
    /// In ns; it is not empty.
    let time: Range<UInt64>
    let progress: (Double) -> Void

    /// Calls that a tile has at most, roughly, where each is told.
    private static let callsOfTile: UInt64 = 30_000
    /// Bytes that a call takes at least.
    private static let leastSize: UInt64 = 2

    func timeline() -> FrozenTimeline {
        let calls = pictures.threads.reduce(0) { $0 &+ $1.countCalls() }
        var exact: Int?
        if calls <= UInt64(room) / SavedTimeline.leastSize {
            exact = 0
            while calls >> (2 * UInt64(exact!)) > SavedTimeline.callsOfTile { exact! += 1 }
        }
        var shift: UInt8 = 0
        while (UInt64(FrozenTile.columns) << shift) < time.upperBound - time.lowerBound { shift += 1 }
        // All tiles begin at steps of the first level, so that a run of short calls is never in two of them.
        func origin() -> UInt64 { time.lowerBound & ~((1 << UInt64(shift)) - 1) }
        while origin() + (UInt64(FrozenTile.columns) << shift) < time.upperBound { shift += 1 }
        var timeline = FrozenTimeline(origin: origin())
        let whole = shift
        for depth in 0... {
            let left = room - timeline.size
            let step = whole > 2 * UInt8(depth) ? whole - 2 * UInt8(depth) : 0
            let span = (UInt64(FrozenTile.columns) << whole) >> (2 * UInt64(depth))
            var level: FrozenTimeline.Level?
            if depth == exact { level = self.level(of: span, 0, timeline, left) }
            if level == nil { level = self.level(of: span, step, timeline, left) }
            if level == nil, depth == 0 {
                // So deep a recursion that the first rows have to do.
                for rows in [4096, 1024, 256, 64, 16] where level == nil {
                    timeline.rows = rows
                    level = self.level(of: span, step, timeline, left)
                }
            }
            guard let level else { break }
            timeline.levels.append(level)
            progress(min(Double(timeline.size) / Double(room), 1))
            if level.isExact || step < 2 { break }
        }
        progress(1)
        return timeline
    }

    /// A level; nil where it takes more bytes than there are left.
    private func level(of span: UInt64, _ shift: UInt8, _ timeline: FrozenTimeline, _ left: Int) -> FrozenTimeline
        .Level?
    {
        // What is finer than an eighth of a step is not known.
        var level = FrozenTimeline.Level(span: span, unit: 1 << UInt64(max(shift, 3) - 3), step: 1 << UInt64(shift))
        var from = timeline.origin
        while from < time.upperBound {
            let tile = tile(from, span, level, timeline.rows)
            level.add(tile)
            if level.size > left { return nil }
            from += span
        }
        return level
    }

    private func tile(_ from: UInt64, _ span: UInt64, _ level: FrozenTimeline.Level, _ most: Int?) -> FrozenTile {
        let to = from + span, clock = pictures.query.session.clock
        var tile = FrozenTile(from: from, unit: level.unit)
        for (index, thread) in pictures.threads.enumerated() where thread.span(clock).overlaps(from..<to) {
            let rows = UInt32(min(Int(pictures.rowCount(ofThread: index) ?? 1 << 16), most ?? .max))
            if rows == 0 { continue }
            let picture = pictures.picture(ofThread: index, from: from, to: to, step: level.step, rows: 0..<rows)
            if picture.entries.isEmpty { continue }
            let count = picture.rows.firstIndex(of: picture.entries.count) ?? 0
            let places = (0..<count).map { row in
                // What only touches an end belongs to the other tile.
                picture.entries[picture.rows[row]..<picture.rows[row + 1]].filter {
                    $0.begin < to && ($0.end > from || $0.begin >= from)
                }.map {
                    FrozenTile.Entry(
                        begin: $0.begin, end: $0.end, busy: $0.busy, function: $0.function, calls: $0.calls)
                }
            }
            tile.add(track: index, rows: places, waits: PictureBytes.waits(of: thread, from, to, FrozenTile.columns))
        }
        return tile
    }
}
