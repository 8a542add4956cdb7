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
        var last: UInt32?
        fathom_item.forEach(in: payload) { kind, item in
            if kind == FATHOM_ITEM_END, item.count >= MemoryLayout<fathom_end_item>.size {
                last = item.loadUnaligned(as: fathom_end_item.self).how
            }
        }
        return last
    }
}

extension fathom_item {
    /// Passes the items of a chunk of metadata, any bytes, with their kinds (FATHOM_ITEM_*), up to one that is not whole.
    package static func forEach(
        in payload: UnsafeRawBufferPointer, _ body: (_ kind: UInt32, _ item: UnsafeRawBufferPointer) -> Void
    ) {
        var rest = payload
        while rest.count >= MemoryLayout<fathom_item>.size {
            let item = rest.loadUnaligned(as: fathom_item.self), size = Int(item.size)
            guard size >= MemoryLayout<fathom_item>.size, size % 8 == 0, size <= rest.count else { return }
            body(UInt32(item.kind), UnsafeRawBufferPointer(rebasing: rest[..<size]))
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        }
    }
}
