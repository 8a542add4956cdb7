extension RandomAccessCollection where Index == Int {
    /// The first index whose element satisfies `belongsInSecondPartition`, which holds from there on; `endIndex` if none does.
    ///
    /// - Complexity: O(log n).
    @inlinable
    package func partitioningIndex(where belongsInSecondPartition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if belongsInSecondPartition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
