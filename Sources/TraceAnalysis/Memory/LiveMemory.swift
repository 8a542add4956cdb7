internal import TraceFile

/// Which blocks of one process were not freed when the recording ended.
///
/// Any thread may free what another one has allocated, so what decides is the last thing that any thread did to an address.
/// A block is known by its address and by when it was allocated.
struct LiveMemory: Sendable {
    struct Block: Hashable {
        var address: UInt64
        /// By the session's clock.
        var ticks: UInt64
    }

    /// The bytes that are left of each block, or mapping, of which any are.
    private let left: [Block: UInt64]

    /// The bytes that are left of a block that was allocated at `ticks`; nil when it is gone.
    func left(of block: RecordedBlock, allocatedAt ticks: UInt64) -> UInt64? {
        left[Block(address: block.address, ticks: ticks)]
    }

    /// - Parameter process: all of its threads are read, whichever are shown.
    /// - Complexity: O(records); memory grows with the addresses at which blocks were allocated, and with the mappings.
    init(of process: TracedProcess) {
        /// By address: what happened there last.
        var last: [UInt64: (ticks: UInt64, size: UInt64, isNew: Bool)] = [:]
        var mappings: [(ticks: UInt64, block: RecordedBlock)] = []
        for thread in process.threads where !thread.keepsPaths {
            thread.forEachBlock { block, ticks in
                switch block.kind {
                case .allocated, .freed:
                    // Of two at the same moment, the block was freed first.
                    if let known = last[block.address], known.ticks > ticks || (known.ticks == ticks && !block.isNew) {
                        break
                    }
                    last[block.address] = (ticks, block.size, block.isNew)
                case .mapped, .unmapped: mappings.append((ticks, block))
                case .minorFault, .majorFault: break
                }
            }
        }
        var left: [Block: UInt64] = [:]
        for (address, event) in last where event.isNew {
            left[Block(address: address, ticks: event.ticks)] = event.size
        }
        var pages = LivePages()
        let order = mappings.indices.sorted { (mappings[$0].ticks, $0) < (mappings[$1].ticks, $1) }
        for index in order {
            let (ticks, block) = mappings[index]
            pages.take(away: block)
            if block.kind == .mapped { pages.add(block, at: ticks) }
        }
        for (key, size) in pages.left { left[key, default: 0] += size }
        self.left = left
    }
}

/// The addresses that mappings still have, while mappings and what takes them away are told of in the order of time.
private struct LivePages {
    private struct Stretch {
        var low: UInt64
        var high: UInt64
        var mapping: LiveMemory.Block
    }

    /// Apart from each other, in the order of their addresses.
    private var stretches: [Stretch] = []
    private static let page: UInt64 = 4096

    var left: [LiveMemory.Block: UInt64] {
        stretches.reduce(into: [:]) { $0[$1.mapping, default: 0] &+= $1.high &- $1.low }
    }

    private static func end(_ block: RecordedBlock) -> UInt64 { block.address.addingClamped(block.size) }

    mutating func add(_ block: RecordedBlock, at ticks: UInt64) {
        guard block.size > 0 else { return }
        let mapping = LiveMemory.Block(address: block.address, ticks: ticks)
        stretches.insert(
            Stretch(low: block.address, high: Self.end(block), mapping: mapping), at: firstIndex(from: block.address))
    }

    /// Whole pages go.
    mutating func take(away block: RecordedBlock) {
        let low = block.address
        let high = Self.end(block).addingClamped(Self.page - 1) / Self.page * Self.page
        var index = firstIndex(from: low)
        if index > 0, stretches[index - 1].high > low { index -= 1 }
        while index < stretches.count, stretches[index].low < high {
            let stretch = stretches.remove(at: index)
            if stretch.low < low {
                stretches.insert(Stretch(low: stretch.low, high: low, mapping: stretch.mapping), at: index)
                index += 1
            }
            if stretch.high > high {
                stretches.insert(Stretch(low: high, high: stretch.high, mapping: stretch.mapping), at: index)
                index += 1
            }
        }
    }

    /// The first stretch that begins at `address` or behind it.
    private func firstIndex(from address: UInt64) -> Int {
        stretches.partitioningIndex { $0.low >= address }
    }
}
