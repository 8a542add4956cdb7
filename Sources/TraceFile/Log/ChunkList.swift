/// The chunks of one thread, as a part of one list that all threads share. A long recording has tens of thousands of
/// chunks.
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

    /// A part of the chunks, counted from 0 again.
    func part(_ part: Range<Int>) -> ChunkList {
        precondition(part.upperBound <= count)
        return ChunkList(all, range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
    }
}
