/// The samples of a track, one behind the other: which stack ran, and for how long.
///
/// A sample takes 8 bytes, and so does a stretch of time in which nothing ran. Either takes 8 more when it is longer than
/// `UInt32.max` ns, which is 4.29 s.
struct FirefoxSamples: Sequence {
    struct Sample: Equatable {
        var stack: Int32
        /// ns since the session's start.
        var start: UInt64
        var length: UInt64
    }

    fileprivate struct Entry {
        /// A stack, ``nothing``, or ``high``.
        var stack: Int32
        /// The lower half of the ns.
        var length: UInt32
    }

    /// Stands in place of a stack where none ran.
    private static let nothing: Int32 = -1
    /// Stands before an entry: the upper half of its ns.
    private static let high: Int32 = -2
    /// The entries of a block. An array that grows is copied, and one of blocks is not.
    private static let blockSize = 1 << 16

    private var blocks: [[Entry]] = []
    private var last: [Entry] = []
    /// The number of samples.
    private(set) var count = 0
    /// The time up to which the track is told, in ns since the session's start.
    private(set) var end: UInt64 = 0

    mutating func removeAll() { self = FirefoxSamples() }

    /// Says that `stack` ran until `time`, or nothing if it is nil.
    mutating func add(_ stack: Int32?, until time: UInt64) {
        guard time > end else { return }
        let length = time - end
        end = time
        if stack != nil { count += 1 }
        if length > UInt32.max { append(Entry(stack: Self.high, length: UInt32(length >> 32))) }
        append(Entry(stack: stack ?? Self.nothing, length: UInt32(truncatingIfNeeded: length)))
    }

    private mutating func append(_ entry: Entry) {
        if last.count == Self.blockSize {
            blocks.append(last)
            last = []
            last.reserveCapacity(Self.blockSize)
        }
        last.append(entry)
    }

    func makeIterator() -> Iterator { Iterator(blocks: blocks + [last]) }

    struct Iterator: IteratorProtocol {
        fileprivate let blocks: [[Entry]]
        private var block = 0
        private var index = 0
        private var time: UInt64 = 0

        fileprivate init(blocks: [[Entry]]) { self.blocks = blocks }

        mutating func next() -> Sample? {
            var upper: UInt64 = 0
            while block < blocks.count {
                guard index < blocks[block].count else {
                    (block, index) = (block + 1, 0)
                    continue
                }
                let entry = blocks[block][index]
                index += 1
                if entry.stack == FirefoxSamples.high {
                    upper = UInt64(entry.length) << 32
                    continue
                }
                let start = time, length = upper | UInt64(entry.length)
                (time, upper) = (start + length, 0)
                if entry.stack >= 0 { return Sample(stack: entry.stack, start: start, length: length) }
            }
            return nil
        }
    }
}
