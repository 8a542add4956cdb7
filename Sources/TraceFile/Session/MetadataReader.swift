internal import CTraceFormat
internal import TraceText

/// Applies the metadata items of one process to it.
struct MetadataReader {
    let process: TracedProcess
    let damage: DamageLog
    private var changed = false

    init(process: TracedProcess, damage: DamageLog) {
        self.process = process
        self.damage = damage
    }

    /// Reads `chunks`, sorted by sequence.
    ///
    /// - Parameter parent: finds a process by its index; only processes read before this one are asked for.
    mutating func read(_ chunks: ChunkList, parent: (UInt32) -> TracedProcess?) {
        for chunk in chunks {
            guard chunk.payloadIsIntact else {
                damage.report(
                    Damage(
                        file: chunk.file, offset: chunk.offset, lostBytes: UInt64(chunk.payload.count),
                        kind: .payloadSum))
                continue
            }
            read(chunk, parent: parent)
        }
        process.sharesParentModules = process.forkParent != nil && !changed
    }

    private mutating func read(_ chunk: Chunk, parent: (UInt32) -> TracedProcess?) {
        var rest = UnsafeRawBufferPointer(rebasing: chunk.payload[(Int(chunk.pathCount) * PathEntry.size)...])
        while rest.count >= MemoryLayout<fathom_item>.size {
            let item = rest.loadUnaligned(as: fathom_item.self)
            let size = Int(item.size)
            guard size >= MemoryLayout<fathom_item>.size, size % 8 == 0, size <= rest.count,
                apply(item.kind, UnsafeRawBufferPointer(rebasing: rest[..<size]), parent: parent)
            else { break }
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        }
        if !rest.isEmpty, !chunk.isTruncated {
            damage.report(
                Damage(
                    file: chunk.file,
                    offset: chunk.offset + UInt64(chunk.size - rest.count),
                    lostBytes: UInt64(rest.count), kind: .malformedMetadata))
        }
    }

    /// Applies one item; false when it is malformed. Unknown kinds are passed over.
    private mutating func apply(
        _ kind: UInt16, _ item: UnsafeRawBufferPointer, parent: (UInt32) -> TracedProcess?
    ) -> Bool {
        switch UInt32(kind) {
        case FATHOM_ITEM_PROCESS: return applyProcess(item, parent: parent)
        case FATHOM_ITEM_MODULE: return applyModule(item)
        case FATHOM_ITEM_UNLOAD:
            guard item.count >= MemoryLayout<fathom_unload_item>.size else { return false }
            let raw = item.loadUnaligned(as: fathom_unload_item.self)
            if let index = process.modules.lastIndex(where: { $0.low == raw.low && $0.unloadTicks == .max }) {
                process.modules[index].unloadTicks = raw.ticks
                changed = true
            }
            return true
        case FATHOM_ITEM_UNNAMED:
            guard item.count >= MemoryLayout<fathom_unnamed_item>.size else { return false }
            let raw = item.loadUnaligned(as: fathom_unnamed_item.self)
            if let index = process.modules.lastIndex(where: { $0.low == raw.low && $0.unloadTicks == .max }) {
                process.modules[index].isUnselected = true
            }
            return true
        case FATHOM_ITEM_UNSEEN_MEMORY:
            process.hidesMemory = true
            return true
        case FATHOM_ITEM_SLEDS:
            guard item.count >= MemoryLayout<fathom_sleds_item>.size else { return false }
            let raw = item.loadUnaligned(as: fathom_sleds_item.self)
            let index = process.modules.lastIndex { $0.low == raw.low && $0.unloadTicks == .max }
            if let index, raw.functions > 0 {
                process.modules[index].sleds = SledCounts(raw)
            }
            return true
        case FATHOM_ITEM_DETOURS:
            guard item.count >= MemoryLayout<fathom_detours_item>.size else { return false }
            let raw = item.loadUnaligned(as: fathom_detours_item.self)
            // It tells where the module's code begins.
            let index = process.modules.lastIndex {
                $0.low <= raw.low && raw.low < $0.high && $0.unloadTicks == .max
            }
            if let index { process.modules[index].detours = DetourCounts(raw) }
            return true
        case FATHOM_ITEM_END:
            guard item.count >= MemoryLayout<fathom_end_item>.size else { return false }
            let raw = item.loadUnaligned(as: fathom_end_item.self)
            // A process that was waited for after exec is not this image.
            if process.end != .exec { process.endTicks = max(process.endTicks, raw.ticks) }
            switch raw.how {
            case FATHOM_END_EXEC: process.end = .exec
            case FATHOM_END_FAILED_EXEC: (process.end, process.endTicks) = (.unknown, 0)
            case FATHOM_END_EXIT: process.end = .exit
            case FATHOM_END_SAVED: process.end = .saved
            case FATHOM_END_DETACHED: process.end = .detached
            case FATHOM_END_CONFINED:
                process.end = .confined
                process.isConfined = true
                process.isCutShort = true
            case FATHOM_END_WAITED: process.end = .waited(status: Int32(bitPattern: raw.status))
            default: break
            }
            return true
        case FATHOM_ITEM_NAME:
            let size = MemoryLayout<fathom_name_item>.size
            guard item.count >= size else { return false }
            let raw = item.loadUnaligned(as: fathom_name_item.self)
            guard Int(raw.text_size) <= item.count - size else { return false }
            guard let kind = GivenName.Kind(rawValue: raw.kind) else { return true }
            process.names[raw.id] = GivenName(kind: kind, text: text(item, at: size, count: Int(raw.text_size)).visible)
            changed = true
            return true
        case FATHOM_ITEM_TITLE:
            let size = MemoryLayout<fathom_title_item>.size
            guard item.count >= size else { return false }
            let raw = item.loadUnaligned(as: fathom_title_item.self)
            guard Int(raw.text_size) <= item.count - size else { return false }
            applyTitle(item[size...].prefix(Int(raw.text_size)))
            return true
        case FATHOM_ITEM_LIBRARY_CALL:
            let size = MemoryLayout<fathom_library_call_item>.size
            guard item.count >= size else { return false }
            let raw = item.loadUnaligned(as: fathom_library_call_item.self)
            guard Int(raw.text_size) <= item.count - size else { return false }
            let name = text(item, at: size, count: Int(raw.text_size)).visible
            process.libraryCalls[raw.function, default: []].append(LibraryCall(ticks: raw.ticks, name: name))
            return true
        case FATHOM_ITEM_LAYOUT:
            let size = MemoryLayout<fathom_layout_item>.size
            guard item.count >= size else { return false }
            let raw = item.loadUnaligned(as: fathom_layout_item.self)
            guard Int(raw.text_size) <= item.count - size else { return false }
            process.argumentLayouts[raw.id] = ArgumentLayout(text: text(item, at: size, count: Int(raw.text_size)))
            changed = true
            return true
        case FATHOM_ITEM_STARTUP:
            guard item.count >= MemoryLayout<fathom_startup_item>.size else { return false }
            if process.start == nil { process.start = RecordedStart() }
            process.start?.add(item.loadUnaligned(as: fathom_startup_item.self))
            return true
        default: return true
        }
    }

    /// Takes what stands in place of the arguments as the title. When it is the arguments, there is no title.
    private func applyTitle(_ command: Slice<UnsafeRawBufferPointer>) {
        func trimmed(_ bytes: [UInt8]) -> [UInt8] {
            let last = bytes.lastIndex { $0 != 0 && $0 != UInt8(ascii: " ") }
            return Array(bytes[..<(last.map { $0 + 1 } ?? 0)])
        }
        var words = trimmed(Array(command))
        let original = trimmed(Array(process.arguments.map { Array($0.utf8) }.joined(separator: [0])))
        let isCut = command.count >= Int(FATHOM_TITLE_LIMIT)
        if words.isEmpty || words == original || isCut && original.starts(with: words) {
            process.title = nil
            return
        }
        for index in words.indices where words[index] == 0 { words[index] = UInt8(ascii: " ") }
        process.title = String(decoding: words, as: UTF8.self)
    }

    private mutating func applyProcess(
        _ item: UnsafeRawBufferPointer, parent: (UInt32) -> TracedProcess?
    ) -> Bool {
        let size = MemoryLayout<fathom_process_item>.size
        guard item.count >= size else { return false }
        let raw = item.loadUnaligned(as: fathom_process_item.self)
        guard Int(raw.path_size) + Int(raw.command_size) <= item.count - size else { return false }
        process.metadataIsLost = false
        process.pid = raw.pid
        process.parentPID = raw.parent_pid
        process.startTicks = raw.start_ticks
        process.path = text(item, at: size, count: Int(raw.path_size))
        let command = item[(size + Int(raw.path_size))...].prefix(Int(raw.command_size))
        var arguments = command.split(separator: 0, omittingEmptySubsequences: false).map {
            String(raw: $0)
        }
        if command.last == 0 { arguments.removeLast() }
        process.arguments = command.isEmpty ? [] : arguments
        process.origin = raw.origin == FATHOM_ORIGIN_FORK ? .fork : .image
        if process.origin == .fork, let origin = parent(raw.parent_process) {
            process.forkParent = origin
            let start = raw.start_ticks
            let kept = origin.modules.filter { $0.seenTicks <= start && $0.unloadTicks > start }
            changed = changed || kept.count != origin.modules.count || kept.contains { $0.unloadTicks != .max }
            process.modules =
                kept.map { module in
                    var module = module
                    module.unloadTicks = .max
                    return module
                } + process.modules
            process.inheritedModules = kept.count
            process.names.merge(origin.names) { own, _ in own }
            process.argumentLayouts.merge(origin.argumentLayouts) { own, _ in own }
            if process.path.isEmpty { process.path = origin.path }
            // The parent may have given itself a title before.
            if !origin.arguments.isEmpty {
                process.arguments = origin.arguments
                applyTitle(command)
            }
        }
        return true
    }

    private mutating func applyModule(_ item: UnsafeRawBufferPointer) -> Bool {
        guard let module = Module(item: item) else { return false }
        process.modules.append(module)
        changed = true
        return true
    }

    private func text(_ item: UnsafeRawBufferPointer, at offset: Int, count: Int) -> String {
        String(raw: item[offset...].prefix(count))
    }
}
