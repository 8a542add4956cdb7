package import CTraceFormat

extension fathom_end_item {
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
