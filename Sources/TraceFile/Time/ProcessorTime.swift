/// How much processor time a thread used in each of its chunks, which says when it had a CPU more exactly than the kernel's
/// records of switches: these are made a little after a thread's processor time has begun to count.
///
/// It is known from the headers alone, so that a part of a thread is read as all of it is.
struct ProcessorTime {
    private struct Stretch {
        var begin: UInt64
        var end: UInt64
        /// In 65534ths of the time.
        var ran: Double
    }

    private let known: [Stretch]

    /// A switch takes less, in ns. Where more is missing, the switches are not all known.
    private static let longestSwitch: UInt64 = 50_000

    /// - Parameter chunks: all chunks of a thread, sorted by sequence.
    init(_ chunks: ChunkList) {
        known = chunks.compactMap { chunk in
            guard chunk.ran > 0, chunk.endTicks > chunk.beginTicks else { return nil }
            return Stretch(begin: chunk.beginTicks, end: chunk.endTicks, ran: Double(chunk.ran - 1))
        }
    }

    /// Makes stretches without a CPU end earlier, in each chunk all by the same time, so that what is left is the processor
    /// time. None becomes less than a tenth of what it was.
    ///
    /// - Parameter stretches: in the order of time, in ns since the session's start.
    /// - Complexity: O(chunks · log stretches + stretches).
    func corrected(_ stretches: [SwitchLog.Stretch], _ clock: Clock) -> [SwitchLog.Stretch] {
        var result = stretches
        for chunk in known {
            let begin = clock.nanoseconds(at: chunk.begin), end = clock.nanoseconds(at: chunk.end)
            guard end > begin else { continue }
            var off: UInt64 = 0, ends: [Int] = []
            var index = result.partitioningIndex { $0.end > begin }
            while index < result.count, result[index].begin < end {
                let stretch = result[index], next = index + 1
                off += min(stretch.end, end) - max(stretch.begin, begin)
                let isEnd = next == result.count || result[next].begin > stretch.end
                if isEnd, stretch.end <= end { ends.append(index) }
                index = next
            }
            let passed = Double(end - begin), unit = passed / 65534
            let missing = chunk.ran * unit - (passed - Double(off)) - unit / 2
            guard !ends.isEmpty, missing > 0 else { continue }
            var rest = UInt64(missing)
            guard rest / UInt64(ends.count) < Self.longestSwitch else { continue }
            for (place, index) in ends.enumerated() {
                rest -= ProcessorTime.shorten(&result, at: index, by: rest / UInt64(ends.count - place), from: begin)
            }
        }
        return result
    }

    /// - Returns: By how much, in ns.
    private static func shorten(
        _ stretches: inout [SwitchLog.Stretch], at index: Int, by time: UInt64, from begin: UInt64
    ) -> UInt64 {
        // The time from the waking on is a stretch of its own.
        let isSplit = index > 0 && stretches[index - 1].end == stretches[index].begin
        let first = max(isSplit ? stretches[index - 1].begin : stretches[index].begin, begin)
        let length = stretches[index].end - first, taken = min(time, length - length / 10)
        let end = stretches[index].end - taken
        stretches[index].end = end
        if stretches[index].begin > end {
            stretches[index].begin = end
            if isSplit { stretches[index - 1].end = end }
        }
        return taken
    }
}
