internal import TraceText

/// A stretch of a thread's calls in few bytes: calls of at least a step each by itself, shorter ones as runs.
struct SummaryNode {
    /// The stretch, in ns since the session's start, in the thread's own time. Calls that end in it are told in it.
    var begin: UInt64
    var end: UInt64
    /// By band of rows: steps are 2^shift ns; ``absent`` where the band is not told. Bands behind these have no calls.
    var shifts: [UInt8]
    /// The size of the chunks that it tells of, in bytes.
    var logBytes: Int
    var piece: SummaryPiece

    static let absent: UInt8 = 255

    /// Ends are known to an eighth of a step, rounded down.
    private static func unit(_ shift: UInt8) -> UInt64 { UInt64(shift > 3 ? shift - 3 : 0) }

    /// - Returns: the exponent of the longest step of which a stretch has at least 1,024.
    static func shift(of length: UInt64) -> UInt8 {
        let steps = length >> 10
        return steps == 0 ? 0 : UInt8(63 - steps.leadingZeroBitCount)
    }

    /// Writes the entries of `rows`, of a stretch that begins at `begin`. Where they take more than `budget` bytes, the bands that
    /// take most get longer steps, until they do not.
    ///
    /// - Parameters:
    ///   - shifts: by band: no step is shorter.
    ///   - number: the number that a function is written as.
    /// - Returns: the bytes, and the steps.
    static func encode(
        _ rows: inout SummaryRows, begin: UInt64, shifts least: [UInt8], budget: Int,
        number: (UInt64) -> UInt64
    ) -> (bytes: [UInt8], shifts: [UInt8]) {
        let starts = rows.sort()
        let rowCount = UInt32(starts.count - 1)
        // A band without calls is told, too, where it may lack some.
        let bands = max(rowCount == 0 ? 0 : SummaryBand.of(rowCount - 1) + 1, (least.lastIndex(of: absent) ?? -1) + 1)
        var shifts = Array(least.prefix(bands))
        var encoded = (0..<bands).map { encode(rows, starts, $0, shifts[$0], begin, number) }
        while case let size = encoded.reduce(0, { $0 + $1.count }), size > budget {
            let band = encoded.indices.max { encoded[$0].count < encoded[$1].count }!
            guard shifts[band] != absent else { break }
            // Twice the step is at best half the size.
            let ratio = (size * 2 - 1) / budget
            shifts[band] += UInt8(max(1, Int.bitWidth - 1 - ratio.leadingZeroBitCount))
            if shifts[band] > 48 { shifts[band] = absent }
            encoded[band] = encode(rows, starts, band, shifts[band], begin, number)
        }
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(rowCount))
        bytes.append(leb128: UInt64(bands))
        for band in encoded { bytes.append(leb128: UInt64(band.count)) }
        for band in encoded { bytes += band }
        return (bytes, shifts)
    }

    private static func encode(
        _ rows: SummaryRows, _ starts: [Int], _ band: Int, _ shift: UInt8, _ begin: UInt64,
        _ number: (UInt64) -> UInt64
    ) -> [UInt8] {
        if shift == absent { return [] }
        var bytes: [UInt8] = []
        for row in SummaryBand.rows(band).clamped(to: 0..<UInt32(starts.count - 1)) {
            var writer = RowWriter(begin: begin, shift: shift)
            for index in starts[Int(row)]..<starts[Int(row) + 1] { writer.add(rows.entries.start[index], number) }
            bytes.append(counted: writer.finish(number))
        }
        return bytes
    }

    /// Merges and writes the entries of a row.
    private struct RowWriter {
        private var bytes: [UInt8] = []
        private let shift: UInt64
        private let unit: UInt64
        private var run = SummaryRun.none
        /// The end of the last entry, in units.
        private var last: UInt64
        private var isFirst = true
        private var function: UInt64 = .max
        /// What rounding left over of the times in which calls were open, in ns.
        private var rest: UInt64 = 0

        init(begin: UInt64, shift: UInt8) {
            self.shift = UInt64(shift)
            unit = SummaryNode.unit(shift)
            last = begin >> unit
        }

        mutating func add(_ entry: SummaryEntry, _ number: (UInt64) -> UInt64) {
            let isShort = entry.length >> shift == 0
            if isShort,
                run.add(
                    begin: entry.begin, end: entry.end, busy: entry.busy, function: entry.function,
                    calls: entry.calls, shift: shift)
            {
                return
            }
            if run.isOpen { write(run.entry, number) }
            run.close()
            if isShort { run = SummaryRun(entry, shift: shift) } else { write(entry, number) }
        }

        mutating func finish(_ number: (UInt64) -> UInt64) -> [UInt8] {
            if run.isOpen { write(run.entry, number) }
            return bytes
        }

        /// Writes where the entry begins, after the one before it; how long it is, with two bits for what follows; of a run,
        /// how many calls it has, and for how long none was open; and the function, where it is not the same as before.
        private mutating func write(_ entry: SummaryEntry, _ number: (UInt64) -> UInt64) {
            var begin = entry.begin >> unit
            if isFirst {
                bytes.append(zigzag: Int64(bitPattern: begin &- last))
                isFirst = false
            } else {
                begin = max(begin, last)
                bytes.append(leb128: begin - last)
            }
            let end = max(entry.end >> unit, begin)
            last = end
            let function = number(entry.function)
            let isRun = entry.calls != 1
            bytes.append(
                leb128: (end - begin) << 2 | (function == self.function ? 2 : 0) | (isRun ? 1 : 0))
            if isRun {
                bytes.append(leb128: UInt64(entry.calls))
                rest &+= entry.busy
                let busy = min(rest >> unit, end - begin)
                rest -= busy << unit
                bytes.append(leb128: end - begin - busy)
            }
            if function != self.function { bytes.append(leb128: function) }
            self.function = function
        }
    }

    /// Reads the entries of some rows, row by row, in the order of time. Functions are the numbers that were written.
    ///
    /// - Parameter wants: whether a band is to be read.
    /// - Returns: false where the bytes are none of a node's; then not all was read.
    func decode(
        _ bytes: UnsafeRawBufferPointer, rows: Range<UInt32>, wants: (Int) -> Bool, _ body: (SummaryEntry) -> Void
    ) -> Bool {
        var reader = LEB128Reader(bytes)
        let rowCount = UInt32(reader.take(below: 1 << 24))
        let bands = reader.take(below: shifts.count + 1)
        guard !reader.hasFailed else { return false }
        let sizes = (0..<bands).map { _ in reader.takeCount() }
        for (band, size) in sizes.enumerated() {
            var part = LEB128Reader(reader.take(size))
            let inBand = SummaryBand.rows(band).clamped(to: 0..<rowCount)
            guard !reader.hasFailed else { return false }
            if shifts[band] == SummaryNode.absent || !wants(band) || !inBand.overlaps(rows) { continue }
            for row in inBand where row < rows.upperBound {
                let bytes = part.take(part.takeCount())
                if part.hasFailed { return false }
                if rows.contains(row), !decode(bytes, row: row, shift: shifts[band], body) { return false }
            }
        }
        return reader.isAtEnd
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, row: UInt32, shift: UInt8, _ body: (SummaryEntry) -> Void
    ) -> Bool {
        var reader = LEB128Reader(bytes)
        let unit = SummaryNode.unit(shift)
        var last = begin >> unit
        var function: UInt64 = 0
        var isFirst = true
        while reader.offset < bytes.count {
            let begin = last &+ (isFirst ? UInt64(bitPattern: reader.takeZigzag()) : reader.take())
            isFirst = false
            let head = reader.take()
            let length = head >> 2
            var (calls, busy) = (UInt64(1), length)
            if head & 1 != 0 {
                calls = reader.take()
                busy = length &- min(reader.take(), length)
            }
            if head & 2 == 0 { function = reader.take() }
            if reader.hasFailed { return false }
            last = begin &+ length
            body(
                SummaryEntry(
                    begin: begin << unit, end: last << unit, busy: busy << unit, function: function,
                    calls: UInt32(truncatingIfNeeded: calls), row: row))
        }
        return !reader.hasFailed
    }
}
