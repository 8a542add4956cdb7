package import CTraceFormat

extension fathom_end_item {
    /// - Parameters:
    ///   - how: FATHOM_END_*.
    ///   - status: as wait(2) gives it, where that is known.
    ///   - ticks: when it ended.
    package init(_ how: UInt32, status: UInt32 = 0, at ticks: UInt64) {
        self.init()
        item.kind = UInt16(FATHOM_ITEM_END)
        item.size = UInt32(MemoryLayout<fathom_end_item>.size)
        (self.ticks, self.how, self.status) = (ticks, how, status)
    }

    /// How an image ended, as a metadata chunk says last: FATHOM_END_*; nil when the chunk does not say.
    ///
    /// - Parameter payload: the items, any bytes.
    package static func last(in payload: UnsafeRawBufferPointer) -> UInt32? {
        var rest = payload, last: UInt32?
        while rest.count >= MemoryLayout<fathom_item>.size {
            let item = rest.loadUnaligned(as: fathom_item.self)
            guard Int(item.size) >= MemoryLayout<fathom_item>.size, Int(item.size) <= rest.count else { break }
            if UInt32(item.kind) == FATHOM_ITEM_END, Int(item.size) >= MemoryLayout<fathom_end_item>.size {
                last = rest.loadUnaligned(as: fathom_end_item.self).how
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(item.size)...])
        }
        return last
    }
}
