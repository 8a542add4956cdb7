internal import TraceFile

/// Makes pictures of one thread from its summaries and, where their steps are too long, from its chunks.
final class PictureMaker {
    private let thread: TracedThread
    private let summaries: (tree: SummaryTree, functions: SummaryFunctions, storage: any SummaryStorage)?
    private let clock: Clock
    private let space: AddressSpace
    /// The functions that have numbers in the summaries, as far as they were asked for.
    private var functions: [UInt64: UInt64] = [0: unknown]

    /// Chunks that are decoded for one picture at most.
    private static let mostChunks = 16 * SummaryTree.leafChunks
    /// Nodes of one level that are read for one picture at most, or a few more.
    private static let mostNodes = 64

    /// - Parameter summaries: nil where there are none, or no calls.
    init(
        _ thread: TracedThread, _ summaries: (SummaryTree, SummaryFunctions, any SummaryStorage)?, clock: Clock,
        space: AddressSpace
    ) {
        self.thread = thread
        self.summaries = summaries
        self.clock = clock
        self.space = space
    }

    /// The function that has a number in the summaries.
    private func function(_ number: UInt64) -> UInt64 {
        if let known = functions[number] { return known }
        guard let keys = summaries?.functions.keys, number <= UInt64(keys.count) else { return PictureMaker.unknown }
        let key = keys[Int(number) - 1]
        guard key.process == thread.process.index, space.hasEpoch(key.epoch) else { return PictureMaker.unknown }
        let function = UInt64(space.function(at: key.address, epoch: key.epoch))
        functions[number] = function
        return function
    }

    /// A function that is not known.
    private static let unknown: UInt64 = .max

    /// The calls of `rows` between two moments.
    ///
    /// - Parameter shift: steps are 2^shift ns.
    func picture(from: UInt64, to: UInt64, shift: UInt8, rows: Range<UInt32>) -> Picture {
        var picture = Picture()
        var found = SummaryRows(shift: UInt64(shift))
        defer { found.free() }
        let cover = Cover(from: from, to: to, shift: shift, rows: rows)
        if !thread.keepsPaths, !thread.chunks.isEmpty, from <= to, !rows.isEmpty {
            if let summaries {
                picture.isCoarse = !addNodes(summaries.tree, cover, to: &found)
            } else {
                let chunks = self.chunks(cover)
                let isRead =
                    chunks.count <= PictureMaker.mostChunks && decode(chunks, cover, bands: .max, to: &found)
                    || chunks.upperBound <= PictureMaker.mostChunks
                        && decode(0..<chunks.upperBound, cover, bands: .max, to: &found)
                if !isRead {
                    sample(chunks, cover, to: &found)
                    picture.isCoarse = true
                }
            }
        }
        found.finish()
        picture.take(&found, rows)
        return picture
    }

    /// What a picture is of.
    private struct Cover {
        let from: UInt64
        let to: UInt64
        let shift: UInt8
        let rows: Range<UInt32>

        func wants(_ entry: SummaryEntry) -> Bool {
            entry.end >= from && entry.begin <= to && rows.contains(entry.row)
        }
    }

    private func add(_ entry: SummaryEntry, _ cover: Cover, to found: inout SummaryRows) {
        guard cover.wants(entry), entry.function != PictureMaker.unknown else { return }
        found.reserve(entry.row)
        found.add(
            begin: entry.begin, end: entry.end, busy: entry.busy, function: entry.function, calls: entry.calls,
            row: entry.row)
    }

    // MARK: Summaries

    /// Goes down from the highest node, band by band, to nodes whose steps are short enough, and adds what they tell.
    ///
    /// - Returns: whether all steps are short enough.
    private func addNodes(_ tree: SummaryTree, _ cover: Cover, to found: inout SummaryRows) -> Bool {
        let leaves = tree.leaf(at: cover.to) - tree.leaf(at: cover.from) + 1
        var visit = Visit(
            tree: tree, cover: cover, leaves: leaves,
            canDecode: leaves * SummaryTree.leafChunks <= PictureMaker.mostChunks)
        let bands = SummaryBand.of(cover.rows.lowerBound)...SummaryBand.of(cover.rows.upperBound - 1)
        visit.collect(level: tree.levels.count - 1, node: 0, bands: bands.reduce(0) { $0 | 1 << UInt32($1) })
        for (place, part) in visit.parts.enumerated() {
            switch part {
            case .node(let level, let index, let bands):
                add(tree.levels[level][index], bands, cover, to: &found)
            case .leaf(let index, let bands):
                if decode(chunks(cover, in: index), cover, bands: bands, to: &found) { continue }
                add(tree.levels[0][index], bands, cover, to: &found)
                visit.parts[place] = .node(level: 0, index: index, bands: bands)
                visit.isCoarse = true
            }
        }
        addOpen(visit.parts, tree, cover, to: &found)
        return !visit.isCoarse
    }

    private func add(_ node: SummaryNode, _ bands: UInt32, _ cover: Cover, to found: inout SummaryRows) {
        guard let bytes = summaries.flatMap({ node.piece.read(from: $0.storage) }) else { return }
        _ = bytes.withUnsafeBytes { bytes in
            node.decode(bytes, rows: cover.rows, wants: { bands & 1 << UInt32($0) != 0 }) { entry in
                var entry = entry
                entry.function = function(entry.function)
                add(entry, cover, to: &found)
            }
        }
    }

    /// Which nodes are read, and which leaves are decoded, in the order of time for each band.
    private struct Visit {
        enum Part {
            case node(level: Int, index: Int, bands: UInt32)
            case leaf(index: Int, bands: UInt32)
        }

        let tree: SummaryTree
        let cover: Cover
        /// How many there are in the stretch, and whether these may be decoded.
        let leaves: Int
        let canDecode: Bool
        var parts: [Part] = []
        var isCoarse = false

        mutating func collect(level: Int, node index: Int, bands: UInt32) {
            let node = tree.levels[level][index]
            // What lies at an edge belongs to both sides.
            guard node.end >= cover.from, node.begin <= cover.to else { return }
            let isLast = level == 0 || leaves >> (3 * (level - 1)) > PictureMaker.mostNodes
            let mayGoDown = level == 0 ? canDecode : !isLast
            var (here, below) = (UInt32(0), UInt32(0))
            for band in 0..<SummaryBand.count where bands & 1 << UInt32(band) != 0 {
                let isFine = band >= node.shifts.count || node.shifts[band] <= cover.shift
                if !isFine, !mayGoDown { isCoarse = true }
                if isFine || !mayGoDown { here |= 1 << UInt32(band) } else { below |= 1 << UInt32(band) }
            }
            if here != 0 { parts.append(.node(level: level, index: index, bands: here)) }
            guard below != 0 else { return }
            if level == 0 { return parts.append(.leaf(index: index, bands: below)) }
            let first = index * SummaryTree.fanout
            for child in first..<min(first + SummaryTree.fanout, tree.levels[level - 1].count) {
                collect(level: level - 1, node: child, bands: below)
            }
        }
    }

    /// Adds the calls that are open where the last node of each band ends. Where a leaf was decoded, they have been added.
    private func addOpen(_ parts: [Visit.Part], _ tree: SummaryTree, _ cover: Cover, to found: inout SummaryRows) {
        var seen: UInt32 = 0
        for part in parts.reversed() {
            switch part {
            case .leaf(_, let bands): seen |= bands
            case .node(let level, let index, let bands):
                let new = bands & ~seen
                seen |= bands
                guard new != 0, let storage = summaries?.storage else { continue }
                let leaf = min((index + 1) << (3 * level), tree.levels[0].count) - 1
                for (row, call) in (tree.open(after: leaf, in: storage) ?? []).enumerated()
                where new & 1 << UInt32(SummaryBand.of(UInt32(row))) != 0 {
                    addOpen(function(call.function), from: call.begin, row: UInt32(row), cover, to: &found)
                }
            }
        }
    }

    private func addOpen(
        _ function: UInt64, from begin: UInt64, row: UInt32, _ cover: Cover, to found: inout SummaryRows
    ) {
        guard begin <= cover.to else { return }
        add(
            SummaryEntry(
                begin: begin, end: cover.to, busy: cover.to - begin, function: function, calls: 1, row: row), cover,
            to: &found)
    }

    // MARK: Chunks

    private func begin(ofChunk index: Int) -> UInt64 { thread.own(ticks: thread.chunks[index].beginTicks, clock) }

    /// The chunks of a picture, of all or of a leaf.
    private func chunks(_ cover: Cover, in leaf: Int? = nil) -> Range<Int> {
        let first = (leaf ?? 0) * SummaryTree.leafChunks
        let limit = leaf.map { min(($0 + 1) * SummaryTree.leafChunks, thread.chunks.count) } ?? thread.chunks.count
        let inside = (first..<limit)
        var low = inside.partitioningIndex { begin(ofChunk: $0) >= cover.from }
        low = max(low - 1, first)
        let high = max(inside.partitioningIndex { begin(ofChunk: $0) > cover.to }, low + 1)
        // Where a chunk does not list all calls that are open, some may have begun since the leaf did.
        if thread.chunks[low].depth > thread.chunks[low].pathCount {
            low = low / SummaryTree.leafChunks * SummaryTree.leafChunks
        }
        return low..<min(high, limit)
    }

    /// - Returns: false where chunks do not tell which calls are open, because the thread runs several stacks: then nothing is
    ///   added.
    private func decode(_ chunks: Range<Int>, _ cover: Cover, bands: UInt32, to found: inout SummaryRows) -> Bool {
        let first = thread.chunks[chunks.lowerBound]
        var before: [SummarySink.Open] = []
        if first.depth > first.pathCount, let summaries, chunks.lowerBound >= SummaryTree.leafChunks {
            let leaf = chunks.lowerBound / SummaryTree.leafChunks - 1
            before = (summaries.tree.open(after: leaf, in: summaries.storage) ?? []).map { call in
                let isKnown = call.function > 0 && call.function <= UInt64(summaries.functions.keys.count)
                let address = isKnown ? summaries.functions.keys[Int(call.function) - 1].address : 0
                return SummarySink.Open(function: address, begin: call.begin)
            }
        }
        var sink = SummarySink(
            space, shift: UInt64(cover.shift), carriedIn: chunks.lowerBound == 0 ? 0 : first.depth,
            before: before, isLast: { _ in true })
        defer { sink.free() }
        StackReplay.run(thread, clock: clock, chunks: chunks, into: &sink)
        if sink.hasLanes, chunks.lowerBound > 0 { return false }
        if chunks.upperBound == thread.chunks.count { sink.forgetOpen() }
        sink.rows.finish()
        let starts = sink.rows.sort()
        func isWanted(_ row: Int) -> Bool {
            cover.rows.contains(UInt32(row)) && bands & 1 << UInt32(SummaryBand.of(UInt32(row))) != 0
        }
        for row in 0..<starts.count - 1 where isWanted(row) {
            for index in starts[row]..<starts[row + 1] {
                var entry = sink.rows.entries.start[index]
                entry.function = function(entry.function, of: sink)
                add(entry, cover, to: &found)
            }
        }
        let isEnd = chunks.upperBound == thread.chunks.count || begin(ofChunk: chunks.upperBound) > cover.to
        guard isEnd else { return true }
        for (row, call) in sink.open.enumerated() where isWanted(row) {
            addOpen(function(call.function, of: sink), from: call.begin, row: UInt32(row), cover, to: &found)
        }
        return true
    }

    private func function(_ function: UInt64, of sink: SummarySink) -> UInt64 {
        let key = sink.key(function)
        return key.address == 0 ? PictureMaker.unknown : UInt64(space.function(at: key.address, epoch: key.epoch))
    }

    /// Of many chunks, the calls that are open where some of them begin: those that are long.
    private func sample(_ chunks: Range<Int>, _ cover: Cover, to found: inout SummaryRows) {
        var open: [SummaryEntry] = []
        func close(_ kept: Int) {
            for entry in open[kept...] {
                var entry = entry
                entry.busy = entry.length
                add(entry, cover, to: &found)
            }
            open.removeLast(open.count - kept)
        }
        for index in stride(from: chunks.lowerBound, to: chunks.upperBound, by: max(1, chunks.count / 512)) {
            let chunk = thread.chunks[index]
            let now = begin(ofChunk: index)
            guard chunk.depth == chunk.pathCount, chunk.lane == 0 else { continue }
            var kept = 0
            while kept < Int(chunk.depth), let call = thread.openCall(kept, ofChunk: index) {
                let begin = thread.own(ticks: call.enterTicks, clock)
                let function = UInt64(space.function(at: call.function, ticks: call.enterTicks))
                if kept < open.count, open[kept].function == function, open[kept].begin == begin {
                    open[kept].end = now
                } else {
                    close(kept)
                    open.append(
                        SummaryEntry(
                            begin: begin, end: max(begin, now), busy: 0, function: function, calls: 1,
                            row: UInt32(kept)))
                }
                kept += 1
            }
            close(kept)
        }
        close(0)
    }
}
