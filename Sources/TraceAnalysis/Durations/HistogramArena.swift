/// Sparse histograms of durations, many in a few pieces of memory, for paths that have more than two calls.
///
/// A small histogram is a list of entries of two bytes, in a piece of 16, 32, 64 or 128 bytes, because most paths have
/// few calls. A histogram that outgrows the lists becomes a chain of blocks of 16 neighbouring buckets each. A block
/// that was used moves to the front, because the next duration most likely belongs there. A path with so many calls that
/// looking for blocks takes noticeable time has an index of them, of 480 bytes, where each is found at once. Counts in
/// blocks stop at their limit of 2^32 - 1.
///
/// A histogram is known by a number. Its lowest three bits say what kind of histogram it is, the others where it
/// begins. The memory is freed by hand.
struct HistogramArena: HistogramSource {
    private typealias Entry = UInt16

    /// The kinds of histograms: 1...4 is a list of 4 << kind entries, 5 is a chain of blocks, 6 is an index of blocks.
    private static var largestList: UInt32 { 4 }
    private static var blocksKind: UInt32 { 5 }
    private static var indexKind: UInt32 { 6 }
    /// An entry is a bucket and a count of 1...31. A bucket with a greater count has several entries. The unused rest
    /// of a list is 0.
    private static var countBits: Entry { 5 }
    private static var largestCount: Entry { 31 }
    /// A path with this many calls has no list any more, because a list is searched for each duration.
    private static var mostListed: UInt32 { 250 }
    /// A path with this many calls has an index.
    private static var mostChained: UInt32 { 1000 }
    /// Lists begin at every eighth entry.
    private static var unit: Int { 8 }
    private static var blockSize: Int { 16 }
    /// The number of blocks that hold all buckets.
    private static var indexSize: Int { Bucket.count / blockSize }

    private struct Block {
        /// The block holds buckets 16 * number up to 16 * number + 15.
        var number: UInt32
        var next: UInt32
    }

    private var lists = GrowingMemory<Entry>(capacity: 64)
    /// Units of lists that were used so far. Unit 0 belongs to no list.
    private var usedUnits = 1
    /// The first free list of each kind. The first two entries of a free list are the number of the next one.
    private var freeLists: (UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0)
    private var blocks = GrowingMemory<Block>(capacity: 16)
    private var counts = GrowingMemory<UInt32>(capacity: 16 * 16)
    /// Block 0 is the end of every chain.
    private var usedBlocks = 1
    /// The number of each block of a histogram, by the buckets that it holds; 0 where there is none.
    private var indices = GrowingMemory<UInt32>(capacity: 1)
    private var usedIndices = 0

    init() {
        blocks.start.initialize(to: Block(number: .max, next: 0))
        counts.start.initialize(repeating: 0, count: HistogramArena.blockSize)
    }

    func free() {
        lists.free()
        blocks.free()
        counts.free()
        indices.free()
    }

    /// Counts a call of `path` that took `duration` ns. The path's sums do not include it yet.
    @inline(__always)
    mutating func count(_ duration: UInt64, of path: UnsafeMutablePointer<PathNode>) {
        let head = path.pointee.histogram
        let bucket = Bucket.index(of: duration)
        // Most calls are of paths with many calls.
        if head & 7 == HistogramArena.indexKind,
            case let block = indices.start[HistogramArena.place(of: bucket &>> 4, in: head)], block != 0
        {
            let count = counts.start + (Int(block) &* HistogramArena.blockSize &+ (bucket & 15))
            if count.pointee != .max { count.pointee &+= 1 }
        } else if head != 0 || path.pointee.lowCalls >= 2 {
            countByLooking(bucket, of: path)
        }
    }

    @inline(never)
    private mutating func countByLooking(_ bucket: Int, of path: UnsafeMutablePointer<PathNode>) {
        if path.pointee.histogram == 0 { begin(path) }
        let calls = path.pointee.lowCalls, kind = path.pointee.histogram & 7
        if kind <= HistogramArena.largestList, calls >= HistogramArena.mostListed {
            moveToBlocks(&path.pointee.histogram)
        } else if kind == HistogramArena.blocksKind, calls >= HistogramArena.mostChained {
            moveToIndex(&path.pointee.histogram)
        }
        add(1, to: bucket, &path.pointee.histogram)
    }

    /// Begins the histogram of a path that has had two calls.
    private mutating func begin(_ path: UnsafeMutablePointer<PathNode>) {
        add(1, to: Bucket.index(of: path.pointee.minimum), &path.pointee.histogram)
        add(1, to: Bucket.index(of: path.pointee.maximum), &path.pointee.histogram)
    }

    /// Adds the durations that `added` adds up, whose histogram is at `source` of `other`, to those that `sums` adds up, whose
    /// histogram is at `head`.
    mutating func add(
        _ added: CallPathSums, _ source: UInt32, in other: some HistogramSource, to head: inout UInt32,
        of sums: CallPathSums
    ) {
        guard added.calls > 0, added.calls &+ sums.calls > 2 else { return }
        if head == 0, sums.calls > 0 {
            add(1, to: Bucket.index(of: sums.minimum), &head)
            if sums.calls > 1 { add(1, to: Bucket.index(of: sums.maximum), &head) }
        }
        var own = head
        other.forEachBucket(source, of: added) { bucket, count in add(count, to: bucket, &own) }
        head = own
    }

    /// Adds `count` to one bucket of the histogram at `head`.
    @inline(never)
    mutating func add(_ count: UInt64, to bucket: Int, _ head: inout UInt32) {
        var rest = count
        while rest > 0, head & 7 <= HistogramArena.largestList {
            let added = Entry(min(rest, UInt64(HistogramArena.largestCount)))
            if addToList(added, Entry(bucket), head) { rest -= UInt64(added) } else { enlarge(&head) }
        }
        if rest > 0 { addToBlocks(rest, bucket, &head) }
    }

    // MARK: Lists

    /// Adds to a bucket's entry, or makes one; false when there is no room.
    private func addToList(_ count: Entry, _ bucket: Entry, _ head: UInt32) -> Bool {
        guard head != 0 else { return false }
        let list = list(head)
        let capacity = HistogramArena.capacity(head & 7)
        for index in 0..<capacity {
            let entry = list[index]
            if entry == 0 {
                list[index] = bucket << HistogramArena.countBits | count
                return true
            }
            guard entry >> HistogramArena.countBits == bucket,
                entry & HistogramArena.largestCount <= HistogramArena.largestCount - count
            else { continue }
            list[index] = entry + count
            // Entries that are looked for often move to the front.
            if index > 0 { swap(&list[index], &list[index - 1]) }
            return true
        }
        return false
    }

    private func list(_ head: UInt32) -> UnsafeMutablePointer<Entry> {
        lists.start + Int(head >> 3) * HistogramArena.unit
    }

    private static func capacity(_ kind: UInt32) -> Int { 4 << Int(kind) }

    private mutating func makeList(_ kind: UInt32) -> UInt32 {
        let size = HistogramArena.capacity(kind)
        var head = withFreeList(kind) { $0 }
        if head != 0 {
            let next = UInt32(list(head)[0]) | UInt32(list(head)[1]) << 16
            withFreeList(kind) { $0 = next }
        } else {
            precondition(usedUnits < 1 << 29, "more histograms than can be told apart")
            head = UInt32(usedUnits) << 3 | kind
            usedUnits += size / HistogramArena.unit
            lists.reserve(usedUnits * HistogramArena.unit)
        }
        list(head).initialize(repeating: 0, count: size)
        return head
    }

    private mutating func freeList(_ head: UInt32) {
        let next = withFreeList(head & 7) { first in
            defer { first = head }
            return first
        }
        list(head)[0] = Entry(truncatingIfNeeded: next)
        list(head)[1] = Entry(truncatingIfNeeded: next >> 16)
    }

    private mutating func withFreeList<Result>(_ kind: UInt32, _ body: (inout UInt32) -> Result) -> Result {
        switch kind {
        case 1: body(&freeLists.1)
        case 2: body(&freeLists.2)
        case 3: body(&freeLists.3)
        case 4: body(&freeLists.4)
        default: body(&freeLists.0)
        }
    }

    /// Moves a histogram to a list of twice the size, or to blocks.
    private mutating func enlarge(_ head: inout UInt32) {
        let kind = head & 7
        guard head != 0 else {
            head = makeList(1)
            return
        }
        guard kind < HistogramArena.largestList else { return moveToBlocks(&head) }
        let larger = makeList(kind + 1)
        list(larger).update(from: list(head), count: HistogramArena.capacity(kind))
        freeList(head)
        head = larger
    }

    private mutating func moveToBlocks(_ head: inout UInt32) {
        var moved: UInt32 = 0
        for index in 0..<HistogramArena.capacity(head & 7) where list(head)[index] != 0 {
            let entry = list(head)[index]
            addToBlocks(UInt64(entry & HistogramArena.largestCount), Int(entry >> HistogramArena.countBits), &moved)
        }
        freeList(head)
        head = moved
    }

    // MARK: Blocks

    private mutating func addToBlocks(_ count: UInt64, _ bucket: Int, _ head: inout UInt32) {
        let block = block(UInt32(bucket >> 4), &head)
        let place = counts.start + Int(block) * HistogramArena.blockSize + (bucket & 15)
        place.pointee = UInt32(clamping: UInt64(place.pointee) + min(count, UInt64(UInt32.max)))
    }

    /// Block `number` of the histogram at `head`, which is added when it is not there.
    private mutating func block(_ number: UInt32, _ head: inout UInt32) -> UInt32 {
        guard head & 7 == HistogramArena.indexKind else {
            if blocks.start[Int(head >> 3)].number != number { bringToFront(number, &head) }
            return head >> 3
        }
        let place = HistogramArena.place(of: Int(number), in: head)
        if indices.start[place] == 0 { indices.start[place] = makeBlock(number) }
        return indices.start[place]
    }

    /// Where the index at `head` has the block that holds buckets 16 * `number` and up.
    @inline(__always)
    private static func place(of number: Int, in head: UInt32) -> Int { Int(head &>> 3) &* indexSize &+ number }

    /// Gives a chain of blocks an index.
    private mutating func moveToIndex(_ head: inout UInt32) {
        precondition(usedIndices < 1 << 29, "more histograms than can be told apart")
        let index = UInt32(usedIndices) << 3 | HistogramArena.indexKind
        usedIndices += 1
        indices.reserve(usedIndices * HistogramArena.indexSize - 1)
        (indices.start + HistogramArena.place(of: 0, in: index))
            .initialize(repeating: 0, count: HistogramArena.indexSize)
        var block = head >> 3
        while block != 0 {
            indices.start[HistogramArena.place(of: Int(blocks.start[Int(block)].number), in: index)] = block
            block = blocks.start[Int(block)].next
        }
        head = index
    }

    /// Makes block `number` the first of its histogram. Adds the block when it is not there.
    @inline(never)
    private mutating func bringToFront(_ number: UInt32, _ head: inout UInt32) {
        let first = head >> 3
        var previous: UInt32 = 0
        var block = first
        while block != 0, blocks.start[Int(block)].number != number {
            (previous, block) = (block, blocks.start[Int(block)].next)
        }
        if block == 0 {
            block = makeBlock(number)
        } else if previous != 0 {
            blocks.start[Int(previous)].next = blocks.start[Int(block)].next
        } else {
            return
        }
        blocks.start[Int(block)].next = first
        head = block << 3 | HistogramArena.blocksKind
    }

    private mutating func makeBlock(_ number: UInt32) -> UInt32 {
        precondition(usedBlocks < 1 << 29, "more histograms than can be told apart")
        blocks.reserve(usedBlocks)
        counts.reserve((usedBlocks + 1) * HistogramArena.blockSize - 1)
        (blocks.start + usedBlocks).initialize(to: Block(number: number, next: 0))
        (counts.start + usedBlocks * HistogramArena.blockSize)
            .initialize(repeating: 0, count: HistogramArena.blockSize)
        usedBlocks += 1
        return UInt32(usedBlocks - 1)
    }

    // MARK: Reading

    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        switch head & 7 {
        case HistogramArena.blocksKind:
            var block = Int(head >> 3)
            while block != 0 {
                forEachBucket(ofBlock: block, Int(blocks.start[block].number), body)
                block = Int(blocks.start[block].next)
            }
        case HistogramArena.indexKind:
            for number in 0..<HistogramArena.indexSize {
                let block = Int(indices.start[HistogramArena.place(of: number, in: head)])
                if block != 0 { forEachBucket(ofBlock: block, number, body) }
            }
        default:
            let list = list(head)
            for index in 0..<HistogramArena.capacity(head & 7) where list[index] != 0 {
                body(
                    Int(list[index] >> HistogramArena.countBits), UInt64(list[index] & HistogramArena.largestCount))
            }
        }
    }

    private func forEachBucket(ofBlock block: Int, _ number: Int, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        for bucket in 0..<HistogramArena.blockSize {
            let count = counts.start[block * HistogramArena.blockSize + bucket]
            if count > 0 { body(number * HistogramArena.blockSize + bucket, UInt64(count)) }
        }
    }
}
