internal import CTraceFormat

/// Makes a chunk of the records of another one that happened from a moment on.
enum LateChunk {
    /// A call that is open.
    private typealias Open = fathom_path_entry

    /// Makes it in new memory, which is the caller's.
    ///
    /// - Parameters:
    ///   - bytes: header and payload of a chunk of records.
    ///   - moment: in ticks.
    ///   - ticksPerSecond: of the clock.
    /// - Returns: nil where the chunk begins at that moment or later, and where it cannot be divided: pieces of Swift's tasks and
    ///   other stacks make more of what is behind them than calls that are open.
    /// - Complexity: O(bytes).
    static func make(
        of bytes: UnsafeMutableRawBufferPointer, from moment: UInt64, ticksPerSecond: UInt64
    ) -> UnsafeMutableRawBufferPointer? {
        var header = bytes.loadUnaligned(as: fathom_chunk.self)
        let skip = Chunk.headerSize + Int(header.path_count) * PathEntry.size
        guard header.begin_ticks < moment, UInt32(header.flags) & FATHOM_FLAG_TASKS == 0, skip <= bytes.count,
            header.path_count <= header.depth
        else { return nil }
        var open = (0..<Int(header.path_count)).map { index in
            bytes.loadUnaligned(fromByteOffset: Chunk.headerSize + index * PathEntry.size, as: Open.self)
        }
        let unlisted = header.depth - header.path_count
        var cursor = RecordCursor(
            UnsafeRawBufferPointer(rebasing: bytes[skip...]), ticks: header.begin_ticks,
            functionBase: header.function_base)
        var calls: UInt64 = 0, first: [UInt8] = []
        search: while true {
            let start = bytes.count - cursor.remaining, base = cursor.base
            let record = cursor.next()
            switch record {
            case .end: break search
            case .dropped: continue
            case .told where cursor.ticks < moment: continue
            case .lane, .task, .malformed: return nil
            case .enter where cursor.ticks < moment:
                calls += 1
                open.append(
                    Open(
                        function: cursor.function,
                        call_site: cursor.callSite(
                            callerFunction: open.last?.function ?? 0, callerSite: open.last?.call_site ?? 0),
                        enter_ticks: moment))
                // The caller of a call whose caller is not listed is not known.
                if open.count == 1, unlisted > 0 { return nil }
            case .exit where cursor.ticks < moment: if open.popLast() == nil { return nil }
            case .unwind where cursor.ticks < moment:
                guard cursor.count <= open.count else { return nil }
                open.removeLast(Int(cursor.count))
            case .enter, .exit, .unwind, .told:
                header.function_base = UInt32(truncatingIfNeeded: base >> 32)
                first = again(
                    UnsafeRawBufferPointer(rebasing: bytes[start..<bytes.count - cursor.remaining]),
                    delta: cursor.ticks - moment)
                break search
            }
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - cursor.remaining)...])
        let size = open.count * PathEntry.size + first.count + rest.count
        (header.depth, header.path_count) = (unlisted + UInt32(open.count), UInt32(open.count))
        header.begin_ns = nanoseconds(of: moment, header, ticksPerSecond)
        header.begin_ticks = moment
        header.calls -= min(calls, header.calls)
        (header.used, header.payload_sum) = (UInt32(size), 0)
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: Chunk.headerSize + size, alignment: 8)
        made.storeBytes(of: header, as: fathom_chunk.self)
        var end = Chunk.headerSize
        for call in open {
            made.storeBytes(of: call, toByteOffset: end, as: Open.self)
            end += PathEntry.size
        }
        UnsafeMutableRawBufferPointer(rebasing: made[end...]).copyBytes(from: first)
        UnsafeMutableRawBufferPointer(rebasing: made[(end + first.count)...]).copyMemory(from: rest)
        return made
    }

    /// A record, and the records that it needs before it, as they are that long after the chunk's beginning.
    private static func again(_ records: UnsafeRawBufferPointer, delta: UInt64) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 2 * Int(FATHOM_RECORD_LIMIT) + records.count)
        let count = result.withUnsafeMutableBytes { room in
            let begin = room.baseAddress!
            var end = delta > 0 ? fathom_put_time(begin, delta)! : begin, position = 0
            while position < records.count {
                let record = records.baseAddress! + position, unit = UInt32(record.loadUnaligned(as: UInt16.self))
                let size = Int(fathom_record_size(record, records.count - position))
                position += size
                if unit == FATHOM_TIME << 1 { continue }
                end.copyMemory(from: record, byteCount: size)
                // It takes no time by itself any more.
                if unit & 1 != 0 || unit >> 1 < FATHOM_SPECIAL {
                    end.storeBytes(of: UInt16(unit & 1), as: UInt16.self)
                }
                end += size
            }
            return end - begin
        }
        return Array(result[..<count])
    }

    /// The moment in ns: the chunk's end says how ticks and ns relate, or else the clock's rate does.
    private static func nanoseconds(of moment: UInt64, _ header: fathom_chunk, _ ticksPerSecond: UInt64) -> UInt64 {
        let passed = Double(moment - header.begin_ticks)
        guard header.end_ticks > header.begin_ticks, header.end_ns > header.begin_ns else {
            return header.begin_ns &+ UInt64(passed * 1e9 / Double(max(ticksPerSecond, 1)))
        }
        let part = passed / Double(header.end_ticks - header.begin_ticks)
        return header.begin_ns + UInt64(min(part, 1) * Double(header.end_ns - header.begin_ns))
    }
}
