/// The histograms of a tree's paths, which several trees may share.
final class HistogramStore: HistogramSource {
    private enum Place {
        case memory(HistogramArena)
        case kept(KeptHistograms)
    }

    private let place: Place

    init(_ arena: HistogramArena) { place = .memory(arena) }

    init(_ kept: KeptHistograms) { place = .kept(kept) }

    deinit {
        if case .memory(let arena) = place { arena.free() }
    }

    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        switch place {
        case .memory(let arena): arena.forEachBucket(head, body)
        case .kept(let kept): kept.forEachBucket(head, body)
        }
    }
}
