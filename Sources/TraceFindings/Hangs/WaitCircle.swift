/// Finds threads that wait for each other.
public enum WaitCircle {
    /// The threads of each circle, each waiting for the next, the smallest first.
    ///
    /// - Parameter owners: of a thread that waits, the one that has what it waits for.
    /// - Complexity: O(n log n) in the number of threads.
    public static func all(_ owners: [UInt32: UInt32]) -> [[UInt32]] {
        var seen: Set<UInt32> = [], circles: [[UInt32]] = []
        for start in owners.keys.sorted() where !seen.contains(start) {
            var path: [UInt32] = [], places: [UInt32: Int] = [:], next: UInt32? = start
            while let thread = next, seen.insert(thread).inserted {
                places[thread] = path.count
                path.append(thread)
                next = owners[thread]
            }
            if let next, let place = places[next] { circles.append(rotated(Array(path[place...]))) }
        }
        return circles
    }

    /// Whether a thread is in a circle, or waits for one that is.
    public static func leads(_ thread: UInt32, into circle: [UInt32], _ owners: [UInt32: UInt32]) -> Bool {
        var next: UInt32? = thread, seen: Set<UInt32> = []
        while let thread = next, seen.insert(thread).inserted {
            if circle.contains(thread) { return true }
            next = owners[thread]
        }
        return false
    }

    private static func rotated(_ circle: [UInt32]) -> [UInt32] {
        guard let least = circle.min(), let place = circle.firstIndex(of: least) else { return circle }
        return Array(circle[place...] + circle[..<place])
    }
}
