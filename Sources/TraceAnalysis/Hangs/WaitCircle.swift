/// Finds threads that wait for each other.
public enum WaitCircle {
    /// The threads of a circle, each waiting for the next, the smallest first; nil when there is none.
    ///
    /// - Parameter owners: of a thread that waits, the one that has what it waits for.
    /// - Complexity: O(threads).
    public static func find(_ owners: [UInt32: UInt32]) -> [UInt32]? {
        var seen: Set<UInt32> = []
        for start in owners.keys.sorted() where !seen.contains(start) {
            var path: [UInt32] = [], places: [UInt32: Int] = [:], next: UInt32? = start
            while let thread = next, !seen.contains(thread) {
                seen.insert(thread)
                places[thread] = path.count
                path.append(thread)
                next = owners[thread]
                if let next, let place = places[next] { return rotated(Array(path[place...])) }
            }
        }
        return nil
    }

    private static func rotated(_ circle: [UInt32]) -> [UInt32] {
        guard let least = circle.min(), let place = circle.firstIndex(of: least) else { return circle }
        return Array(circle[place...] + circle[..<place])
    }
}
