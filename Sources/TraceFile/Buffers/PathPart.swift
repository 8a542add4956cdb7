internal import CTraceFormat

extension SharedBuffers {
    /// A chunk of call paths that a thread goes on with, where it is mapped.
    package struct PathPart {
        package let process: UInt32
        package let thread: UInt32
        /// Which of the thread's trees the paths belong to.
        package let tree: UInt32
        /// The number of the first unit.
        package let first: UInt32
        private let word: UnsafeMutablePointer<UInt32>
        /// What the slot's word says while the chunk is there.
        private let owned: UInt32
        private let head: UnsafeMutablePointer<fathom_paths_head>
        private let chunk: UnsafeMutablePointer<fathom_chunk>
        private let capacity: Int

        init?(_ slot: Slot, word: UnsafeMutablePointer<UInt32>, at chunk: UnsafeMutablePointer<fathom_chunk>, size: Int) {
            guard slot.header.kind == UInt8(FATHOM_CHUNK_PATHS), slot.header.magic == FATHOM_CHUNK_MAGIC else { return nil }
            (process, thread) = (slot.header.process, slot.header.thread)
            self.word = word
            owned = slot.owner << 2 | FATHOM_SLOT_OWNED
            self.chunk = chunk
            head = UnsafeMutableRawPointer(chunk + 1).assumingMemoryBound(to: fathom_paths_head.self)
            capacity = size - MemoryLayout<fathom_chunk>.size - MemoryLayout<fathom_paths_head>.size
            (tree, first) = (head.pointee.tree, head.pointee.first)
            guard head.pointee.keeps == UInt64(FATHOM_KEEPS_SAMPLES) else { return nil }
        }

        private var isThere: Bool { fathom_load32(word) == owned }

        /// The number of the path that the thread is in; nil: none that is kept. Of a thread's first chunk alone.
        package var current: UInt32? {
            guard isThere else { return nil }
            let path = fathom_load32(&head.pointee.current)
            return path == FATHOM_NO_PATH ? nil : path
        }

        /// Whether the chunk has a unit of this number.
        package func holds(_ path: UInt32) -> Bool {
            guard path >= first else { return false }
            let size = MemoryLayout<fathom_paths_head>.size + (Int(path - first) + 1) * Int(FATHOM_UNIT_SIZE)
            return size <= Int(fathom_load32(&chunk.pointee.used)) && size <= capacity
        }

        /// Adds a sample to a path that the chunk holds.
        ///
        /// - Parameters:
        ///   - elapsed: the time that the sample stands for, in ticks.
        ///   - now: in ticks.
        package func add(_ elapsed: UInt64, at now: UInt64, to path: UInt32) {
            guard isThere else { return }
            let unit = UnsafeMutableRawPointer(head + 1).assumingMemoryBound(to: fathom_path.self) + Int(path - first)
            unit.pointee.calls &+= 1
            unit.pointee.total &+= elapsed
            unit.pointee.moment = now << UInt64(FATHOM_PATH_SHIFT)
        }
    }

    /// The chunks of call paths that threads go on with.
    ///
    /// - Complexity: O(slots that were ever used).
    package func pathParts() -> [PathPart] {
        slots(in: FATHOM_SLOT_OWNED).compactMap { slot in
            writable(slot).flatMap { PathPart(slot, word: $0.word, at: $0.chunk, size: slotSize) }
        }
    }
}
