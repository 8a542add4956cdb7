/// Logarithmic buckets of durations: exact below 64 ns, then 32 to each doubling, so that a bucket's middle is within
/// 1.6 % of everything in it. The scheme is that of G. Tene's HdrHistogram.
enum Bucket {
    /// Buckets in all, enough for 64 bits.
    static let count = 64 + 58 * 32

    @inline(__always)
    static func index(of duration: UInt64) -> Int {
        guard duration >= 64 else { return Int(truncatingIfNeeded: duration) }
        let exponent = 63 &- duration.leadingZeroBitCount
        let step = Int(truncatingIfNeeded: duration &>> UInt64(truncatingIfNeeded: exponent &- 5)) & 31
        return 64 &+ (exponent &- 6) &* 32 &+ step
    }

    /// The middle of bucket `index`, in ns.
    static func middle(of index: Int) -> UInt64 {
        guard index >= 64 else { return UInt64(index) }
        let shift = UInt64((index - 64) / 32 + 1)
        return (UInt64(32 + (index - 64) % 32) << shift) + (1 << shift) / 2
    }
}

/// Sparse histograms of durations, many in one piece of memory.
///
/// A histogram is a chain of blocks of 16 neighbouring buckets, known by its first block; block 0 is the end of every
/// chain. A block that was used moves to the front, where the next duration most likely belongs. Counts stay at their
/// limit of 2^32 - 1.
struct HistogramArena {
    typealias Counts = UnsafeMutablePointer<UInt32>

    private struct Block {
        /// Its buckets are 16 * number up to 16 * number + 15.
        var number: UInt32
        var next: UInt32
    }

    static let blockSize = 16

    private var blocks: UnsafeMutablePointer<Block>
    private var counts: Counts
    private var used = 1
    private var capacity = 64

    init() {
        blocks = .allocate(capacity: capacity)
        counts = .allocate(capacity: capacity * HistogramArena.blockSize)
        blocks.initialize(to: Block(number: .max, next: 0))
        counts.initialize(repeating: 0, count: HistogramArena.blockSize)
    }

    func free() {
        blocks.deallocate()
        counts.deallocate()
    }

    /// Counts `duration`, in ns, in the histogram that begins at block `head`.
    @inline(__always)
    mutating func count(_ duration: UInt64, _ head: inout UInt32) {
        let bucket = Bucket.index(of: duration)
        let number = UInt32(truncatingIfNeeded: bucket &>> 4)
        if blocks[Int(head)].number != number { bringToFront(number, &head) }
        let count = counts + (Int(head) &* HistogramArena.blockSize &+ (bucket & 15))
        if count.pointee != .max { count.pointee &+= 1 }
    }

    /// Makes block `number` the first of its histogram, adding it when it is not there.
    @inline(never)
    private mutating func bringToFront(_ number: UInt32, _ head: inout UInt32) {
        var previous: UInt32 = 0
        var block = head
        while block != 0, blocks[Int(block)].number != number { (previous, block) = (block, blocks[Int(block)].next) }
        if block == 0 {
            if used == capacity { grow() }
            block = UInt32(used)
            used += 1
            (blocks + Int(block)).initialize(to: Block(number: number, next: 0))
            (counts + Int(block) * HistogramArena.blockSize)
                .initialize(repeating: 0, count: HistogramArena.blockSize)
        } else if previous != 0 {
            blocks[Int(previous)].next = blocks[Int(block)].next
        } else {
            return
        }
        blocks[Int(block)].next = head
        head = block
    }

    private mutating func grow() {
        let size = HistogramArena.blockSize
        let largerBlocks = UnsafeMutablePointer<Block>.allocate(capacity: capacity * 2)
        let largerCounts = Counts.allocate(capacity: capacity * 2 * size)
        largerBlocks.moveInitialize(from: blocks, count: used)
        largerCounts.moveInitialize(from: counts, count: used * size)
        free()
        (blocks, counts, capacity) = (largerBlocks, largerCounts, capacity * 2)
    }

    /// Adds the histogram at `source` of `other` to the one at `head`.
    mutating func add(_ other: HistogramArena, _ source: UInt32, to head: inout UInt32) {
        other.forEachBlock(source) { number, added in
            for bucket in 0..<HistogramArena.blockSize {
                add(added[bucket], toBucket: bucket, ofBlock: number, &head)
            }
        }
    }

    /// Adds `count` to one bucket of the histogram at `head`.
    mutating func add(_ count: UInt32, toBucket bucket: Int, ofBlock number: UInt32, _ head: inout UInt32) {
        if blocks[Int(head)].number != number { bringToFront(number, &head) }
        let place = counts + Int(head) * HistogramArena.blockSize + bucket
        let (sum, overflow) = place.pointee.addingReportingOverflow(count)
        place.pointee = overflow ? .max : sum
    }

    /// Passes the blocks of a histogram, in no order: their numbers and 16 counts each.
    func forEachBlock(_ head: UInt32, _ body: (UInt32, Counts) -> Void) {
        var block = head
        while block != 0 {
            let (number, next) = (blocks[Int(block)].number, blocks[Int(block)].next)
            body(number, counts + Int(block) * HistogramArena.blockSize)
            block = next
        }
    }
}

/// Adds up histograms and reads percentiles off the sum.
struct PercentileReader {
    private var sums = [UInt64](repeating: 0, count: Bucket.count)

    mutating func add(_ arena: HistogramArena, _ head: UInt32) {
        sums.withUnsafeMutableBufferPointer { sums in
            arena.forEachBlock(head) { number, counts in
                let first = Int(number) * HistogramArena.blockSize
                for bucket in 0..<HistogramArena.blockSize { sums[first + bucket] &+= UInt64(counts[bucket]) }
            }
        }
    }

    /// The durations, in ns, that 50, 90 and 99 % of the calls do not exceed (nearest rank), within 1.6 %; forgets the sum.
    ///
    /// - Parameter range: the shortest and the longest duration, which are known exactly.
    mutating func take(within range: ClosedRange<UInt64>) -> Percentiles {
        let buckets = Bucket.index(of: range.lowerBound)...Bucket.index(of: range.upperBound)
        let count = sums[buckets].reduce(0, &+)
        func value(_ percent: UInt64) -> UInt64 {
            let (quotient, remainder) = count.quotientAndRemainder(dividingBy: 100)
            let rank = max(1, quotient * percent + (remainder * percent + 99) / 100)
            var seen: UInt64 = 0
            for bucket in buckets {
                seen &+= sums[bucket]
                if seen >= rank { return min(max(Bucket.middle(of: bucket), range.lowerBound), range.upperBound) }
            }
            return range.upperBound
        }
        defer { for bucket in buckets { sums[bucket] = 0 } }
        return count == 0 ? Percentiles() : Percentiles(p50: value(50), p90: value(90), p99: value(99))
    }
}

/// Durations in ns that a share of calls does not exceed.
public struct Percentiles: Sendable, Equatable {
    public var p50: UInt64 = 0
    public var p90: UInt64 = 0
    public var p99: UInt64 = 0
}
