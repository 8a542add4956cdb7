/// The chunks of one thread, in a list that all threads share: a long recording has tens of thousands.
public struct ChunkList: RandomAccessCollection {
    private let all: [Chunk]
    private let range: Range<Int>

    /// - Parameter range: of `all`.
    init(_ all: [Chunk], _ range: Range<Int>) {
        self.all = all
        self.range = range
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }

    public subscript(index: Int) -> Chunk { all[range.lowerBound + index] }

    /// Some of them, counted from 0 again.
    func part(_ part: Range<Int>) -> ChunkList {
        precondition(part.upperBound <= count)
        return ChunkList(all, range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
    }
}
