internal import TraceText

/// What threads waited for, and who made them go on, as `wakes.js` reads it.
///
/// It is `{texts, tracks}`: the waits of each track, one after the other in the order of time, as six numbers: where it begins and ends,
/// in ns; what it was for, among the texts; and the track of who ended it, when, and where, among the texts. What is not known is -1.
public struct FrozenWaits {
    public struct Wait: Sendable {
        public var track: Int
        /// ns.
        public var begin: UInt64
        public var end: UInt64
        /// What it was for.
        public var subject: String
        /// Who ended it: the track, if there is one, when that was, and where.
        public var waker: (track: Int?, moment: UInt64, path: String)?

        public init(
            track: Int, begin: UInt64, end: UInt64, subject: String,
            waker: (track: Int?, moment: UInt64, path: String)? = nil
        ) {
            (self.track, self.begin, self.end) = (track, begin, end)
            (self.subject, self.waker) = (subject, waker)
        }
    }

    /// Writes the longest of some waits.
    ///
    /// - Parameters:
    ///   - waits: in the order of time.
    ///   - count: how many tracks there are.
    ///   - most: how many waits are told.
    /// - Complexity: O(n log n).
    public static func bytes(of waits: some Collection<Wait>, tracks count: Int, most: Int) -> [UInt8] {
        var least: UInt64 = 0
        if waits.count > most { least = waits.map { $0.end - $0.begin }.sorted(by: >)[most - 1] }
        var tracks = [[Int]](repeating: [], count: count)
        var texts: [String] = []
        var numbers: [String: Int] = [:]
        func number(_ text: String) -> Int {
            if let known = numbers[text] { return known }
            numbers[text] = texts.count
            texts.append(text)
            return texts.count - 1
        }
        for wait in waits.lazy.filter({ $0.end - $0.begin >= least }).prefix(most) {
            tracks[wait.track] += [Int(wait.begin), Int(wait.end), number(wait.subject)]
            tracks[wait.track] +=
                wait.waker.map { [$0.track ?? -1, Int($0.moment), number($0.path)] } ?? [-1, -1, -1]
        }
        return ByteWriter.bytes { bytes in
            let json = JSONWriter(bytes)
            json.object {
                json.field("texts", texts)
                json.array("tracks", tracks) { track in json.array(track) { json.value($0) } }
            }
        }
    }
}
