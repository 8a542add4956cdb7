internal import TraceAnalysis
internal import TraceFile
internal import TracePage
internal import TraceQuery

/// Makes the tiles of a page, as many levels as it has room for.
struct SavedTimeline {
    let pictures: PictureQuery
    /// Bytes of a page.
    let room: Int
    /// In ns; it is not empty.
    let time: Range<UInt64>
    let progress: (Double) -> Void

    func timeline() -> FrozenTimeline {
        let calls = pictures.threads.reduce(0) { $0 &+ $1.countCalls() }
        return FrozenTimeline(calls: calls, room: room, time: time, progress: progress, tile: tile)
    }

    private func tile(_ time: Range<UInt64>, _ level: FrozenTimeline.Level, _ most: Int?) -> FrozenTile {
        let (from, to) = (time.lowerBound, time.upperBound), clock = pictures.query.session.clock
        var tile = FrozenTile(from: from, unit: level.unit)
        for (index, thread) in pictures.threads.enumerated() where thread.span(clock).overlaps(time) {
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
