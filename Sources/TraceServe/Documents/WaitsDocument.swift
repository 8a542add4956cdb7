internal import TraceFile
internal import TraceFindings
internal import TracePage
internal import TraceQuery

/// What threads waited for, and who made them go on, which all records together tell.
struct WaitsDocument: Sendable {
    /// By track, in the order of time.
    private let waits: [[FrozenWaits.Wait]]

    /// Waits that are kept, the longest.
    private static let most = 500_000

    /// - Parameter tracks: those that pages know, in the order in which everything numbers them.
    /// - Complexity: O(records).
    init(of query: SessionQuery, tracks: [TracedThread]) {
        let places = tracks.indices.filter { tracks[$0].task == nil && !tracks[$0].isJoined }
        let names = query.waits(of: places.map { tracks[$0] })
        let (threads, wakes) = (names.waits.threads, names.waits.wakes)
        var found = names.waits.waits.filter { if case .call = $0.kind { true } else { false } }
        if found.count > WaitsDocument.most {
            let least = found.map(\.time).sorted(by: >)[WaitsDocument.most - 1]
            found.removeAll { $0.time < least }
        }
        var paths: [Int32: String] = [:]
        func text(_ path: Int32) -> String {
            if let known = paths[path] { return known }
            let text = names.path(path).joined(separator: " → ")
            paths[path] = text
            return text
        }
        var waits = [[FrozenWaits.Wait]](repeating: [], count: tracks.count)
        for wait in found {
            let own = threads[wait.thread], track = places[wait.thread]
            var told = FrozenWaits.Wait(
                track: track, begin: own.own(wait.begin), end: own.own(wait.end), subject: names.subject(wait))
            if let wake = wait.wake.map({ wakes[$0] }) {
                let path = text(wake.path)
                told.waker = (
                    places[wake.thread], threads[wake.thread].own(wake.moment),
                    path.isEmpty ? names.thread(wake.thread) : path
                )
            }
            waits[track].append(told)
        }
        self.waits = waits
    }

    /// The longest waits of some tracks that have a part in a stretch, as JSON.
    ///
    /// - Parameters:
    ///   - tracks: nil for all.
    ///   - most: how many are told.
    func bytes(in time: Range<UInt64>, tracks: [Int]? = nil, most: Int) -> [UInt8] {
        let seen = (tracks ?? Array(waits.indices)).flatMap { track in
            waits[track].filter { $0.begin < time.upperBound && $0.end > time.lowerBound }
        }
        return FrozenWaits.bytes(of: seen, tracks: waits.count, most: most)
    }
}
