internal import CTraceFormat
internal import TraceFile
internal import TraceSystem

/// Puts the kernel's system calls into the chunks of the threads that made them, on their way to the log.
final class SystemCallWriter {
    private let recorder: SystemCallRecorder
    private let buffers: SharedBuffers
    private let clock: SessionClock
    private let limits: SystemCallMerge.Limits
    /// Whether programs are recorded from their start on.
    private let hasStarts: Bool
    private var programs: [UInt32: Program] = [:]
    private var ends: [Thread: End] = [:]
    /// The serial number of the next thread that has no records.
    private var serial = SystemCallWriter.firstSerial
    private static let firstSerial: UInt32 = 1 << 31
    private var nextLook: UInt64 = 0

    /// What a process says of itself.
    private struct Program {
        var pid: UInt32
        /// In ns.
        var start: UInt64 = 0
        var parent = FATHOM_NO_PROCESS
        /// Where the runtime is, whose system calls are not the program's.
        var runtime: Range<UInt64> = 0..<0
    }

    init(_ recorder: SystemCallRecorder, _ buffers: SharedBuffers, _ clock: SessionClock, _ options: RecordOptions) {
        (self.recorder, self.buffers, self.clock) = (recorder, buffers, clock)
        limits = SystemCallMerge.Limits(options, clock)
        hasStarts = !options.startsPaused
    }

    /// How many records of system calls were lost.
    var lost: UInt64 { recorder.lost }

    /// A chunk of records with its thread's system calls; nil when there are none.
    func merge(_ header: fathom_chunk, _ payload: UnsafeRawPointer) -> SystemCallMerge? {
        let records = UnsafeRawBufferPointer(start: payload, count: Int(header.used))
        ends[Thread(process: header.process, tid: header.tid)] = End(of: header, records)
        let isFirst = header.sequence == 0 && hasStarts
        if programs[header.process] == nil { look() }
        var calls = recorder.take(
            of: header.tid, header.pid, at: header.begin_ns, until: header.end_ticks == 0 ? nil : header.end_ns,
            fromStart: isFirst && isFirstProgram(header.process))
        leaveOutRuntime(&calls, header.process)
        calls.removeAll { !isFirst && $0.end ?? .max < header.begin_ns }
        return calls.isEmpty ? nil : SystemCallMerge(header, records, calls, limits, recorder.readings, clock)
    }

    /// Chunks of the system calls that threads made behind their last records, as when programs write what they have left to write, and of
    /// threads that have no records. Call when all other chunks are written.
    func rest() -> [SystemCallMerge] {
        look()
        var chunks: [SystemCallMerge] = []
        // Each time, those of one program of a process are taken.
        while true {
            let left = recorder.left()
            for thread in left { if let chunk = chunk(of: thread, until: nil) { chunks.append(chunk) } }
            if recorder.left().map(\.begin) == left.map(\.begin) { return chunks }
        }
    }

    /// Chunks of threads that have no records so far, and many calls. Call from time to time.
    func early() -> [SystemCallMerge] {
        let now = SystemClock.monotonic
        if now < nextLook { return [] }
        nextLook = now + 100_000_000
        var left = recorder.left().filter { $0.count >= 1 << 16 }
        if left.isEmpty { return [] }
        // What a thread has in the buffers is yet to come.
        let writing = [FATHOM_SLOT_OWNED, FATHOM_SLOT_FULL].flatMap { buffers.slots(in: $0) }
            .filter { $0.header.kind == UInt8(FATHOM_CHUNK_RECORDS) }
        let threads = Set(writing.map { UInt64($0.header.pid) << 32 | UInt64($0.header.tid) })
        left.removeAll { threads.contains(UInt64($0.process) << 32 | UInt64($0.thread)) }
        if left.contains(where: { thread in !programs.contains { $0.value.pid == thread.process } }) { look() }
        return left.compactMap { chunk(of: $0, until: now) }
    }

    /// A chunk without records of its own, of a thread's calls; nil where these belong elsewhere, or to nobody.
    ///
    /// - Parameter end: in ns: calls that began later are left; nil: none are, and they are taken in any case.
    private func chunk(of left: SystemCallState.Left, until end: UInt64?) -> SystemCallMerge? {
        // The program that ran then, or that ran first: nothing else is recorded of what its process did before.
        let stretch = recorder.stretch(of: left.process, at: left.begin)
        let own = programs.filter { $0.value.pid == left.process }.sorted { $0.value.start < $1.value.start }
        let program = own.first { stretch.contains($0.value.start) } ?? own.first { $0.value.start > left.begin }
        let thread = program.map { Thread(process: $0.key, tid: left.thread) }
        var known = thread.flatMap { ends[$0] }
        if end != nil, known.map({ !$0.isOwn }) ?? false { return nil }
        // A process that has told nothing of itself for so long is not recorded.
        if let end, thread == nil, left.begin + 2_000_000_000 > end { return nil }
        var calls = recorder.take(
            of: left.thread, left.process, at: max(left.begin, program?.value.start ?? 0), until: end,
            fromStart: program.map { isFirstProgram($0.key) } ?? false)
        guard let thread, !calls.isEmpty else { return nil }
        if known == nil {
            known = .open(header(thread, left.process, at: calls[0].begin), [])
            serial += 1
        }
        guard case .open(let header, let path)? = known else { return nil }
        leaveOutRuntime(&calls, thread.process)
        calls.removeAll { $0.begin < header.begin_ns }
        if calls.isEmpty { return nil }
        let merge = path.withUnsafeBytes {
            SystemCallMerge(header, $0, calls, isLast: true, limits, recorder.readings, clock)
        }
        ends[thread] = .open(End.header(behind: merge.header, path), path)
        return merge
    }

    /// Whether nothing was recorded of the process before it ran this program.
    private func isFirstProgram(_ process: UInt32) -> Bool {
        guard let program = programs[process] else { return false }
        return !programs.contains { $0.value.pid == program.pid && $0.value.start < program.start }
    }

    /// The numbers of vfork, execve and execveat, which the runtime calls for the program.
    private static let passedOn: Set<UInt32> = [58, 59, 322]

    private func leaveOutRuntime(_ calls: inout [SystemCall], _ process: UInt32) {
        let runtime = runtime(of: process)
        guard let program = programs[process] else { return }
        let begin = recorder.stretch(of: program.pid, at: program.start).lowerBound
        // Before it ran this program, a child had the memory of whoever started it.
        let all = calls.first.map { $0.begin < begin } ?? false ? programs.values.map(\.runtime) : []
        calls.removeAll { call in
            !Self.passedOn.contains(call.number)
                && (call.begin < begin ? all.contains { $0.contains(call.address) } : runtime.contains(call.address))
        }
    }

    /// The header of a chunk of a thread without records, from `begin` on, in ns.
    private func header(_ thread: Thread, _ pid: UInt32, at begin: UInt64) -> fathom_chunk {
        var header = fathom_chunk()
        header.magic = FATHOM_CHUNK_MAGIC
        header.kind = UInt8(FATHOM_CHUNK_RECORDS)
        (header.process, header.pid, header.tid, header.thread) = (thread.process, pid, thread.tid, serial)
        header.begin_ns = begin
        header.begin_ticks = clock.start.ticks &+ clock.ticks(nanoseconds: begin - min(clock.start.nanoseconds, begin))
        (header.end_ns, header.end_ticks) = (header.begin_ns, header.begin_ticks)
        return header
    }

    private struct Thread: Hashable {
        var process: UInt32
        var tid: UInt32
    }

    /// Where a thread's last chunk ends.
    private enum End {
        /// Another one may follow, with this header and these open calls.
        case open(fathom_chunk, [fathom_path_entry])
        case unknown

        init(of header: fathom_chunk, _ payload: UnsafeRawBufferPointer) {
            self = .unknown
            // A chunk that is full has another behind it.
            guard header.end_ticks != 0, UInt32(header.flags) & (FATHOM_FLAG_LAST | FATHOM_FLAG_STOPPED) == 0,
                header.depth == header.path_count,
                header.capacity > header.used + 4 * FATHOM_RECORD_LIMIT
            else { return }
            let size = Int(header.path_count) * MemoryLayout<fathom_path_entry>.size
            guard size <= payload.count else { return }
            var path = (0..<Int(header.path_count)).map {
                payload.loadUnaligned(
                    fromByteOffset: $0 * MemoryLayout<fathom_path_entry>.size, as: fathom_path_entry.self)
            }
            var cursor = RecordCursor(
                UnsafeRawBufferPointer(rebasing: payload[size...]), ticks: header.begin_ticks,
                functionBase: header.function_base)
            reading: while true {
                switch cursor.next() {
                case .enter:
                    let site = cursor.callSite(
                        callerFunction: path.last?.function ?? 0, callerSite: path.last?.call_site ?? 0)
                    path.append(
                        fathom_path_entry(function: cursor.function, call_site: site, enter_ticks: cursor.ticks))
                case .exit: path.removeLast(min(path.count, 1))
                case .unwind: path.removeLast(min(path.count, Int(cursor.count)))
                case .lane, .malformed: return
                case .end: break reading
                default: break
                }
            }
            self = .open(Self.header(behind: header, path), path)
        }

        /// Whether the chunks are those that this makes itself, because the thread has no records.
        var isOwn: Bool {
            if case .open(let header, _) = self { return header.thread >= SystemCallWriter.firstSerial }
            return false
        }

        /// The header of a chunk that follows another one, where these calls are open.
        static func header(behind header: fathom_chunk, _ path: [fathom_path_entry]) -> fathom_chunk {
            var next = fathom_chunk()
            (next.magic, next.kind) = (header.magic, header.kind)
            (next.process, next.thread, next.pid, next.tid) = (header.process, header.thread, header.pid, header.tid)
            next.sequence = header.sequence + 1
            (next.begin_ticks, next.begin_ns) = (header.end_ticks, header.end_ns)
            (next.end_ticks, next.end_ns) = (header.end_ticks, header.end_ns)
            (next.depth, next.path_count) = (UInt32(path.count), UInt32(path.count))
            next.inherited = min(header.inherited, next.depth)
            (next.lane, next.name) = (header.lane, header.name)
            next.used = UInt32(path.count * MemoryLayout<fathom_path_entry>.size)
            return next
        }
    }

    /// Where the runtime is in a process.
    private func runtime(of process: UInt32) -> Range<UInt64> {
        if programs[process]?.runtime.isEmpty ?? true { look() }
        guard let program = programs[process] else { return 0..<0 }
        // A fork's child has it where its parent has it.
        if program.runtime.isEmpty, program.parent < process { return runtime(of: program.parent) }
        return program.runtime
    }

    /// Looks at what processes have told of themselves so far.
    private func look() {
        for state in [FATHOM_SLOT_OWNED, FATHOM_SLOT_FULL] {
            for slot in buffers.slots(in: state)
            where slot.header.kind == UInt8(FATHOM_CHUNK_METADATA) && slot.header.magic == FATHOM_CHUNK_MAGIC {
                var slot = slot
                slot.header.used = min(fathom_chunk_written(&slot.header), UInt32(buffers.slotSize))
                if let payload = buffers.payload(of: slot) { note(slot.header, payload.start) }
            }
        }
    }

    /// Takes what a process tells of itself.
    func note(_ header: fathom_chunk, _ items: UnsafeRawPointer) {
        var program = programs[header.process] ?? Program(pid: header.pid)
        fathom_item.forEach(in: UnsafeRawBufferPointer(start: items, count: Int(header.used))) { kind, item in
            if kind == FATHOM_ITEM_PROCESS, item.count >= MemoryLayout<fathom_process_item>.size {
                let told = item.loadUnaligned(as: fathom_process_item.self)
                (program.start, program.parent) = (told.start_ns, told.parent_process)
            } else if kind == FATHOM_ITEM_MODULE, let module = Module(item: item),
                module.path.hasSuffix("/libfathom.so")
            {
                program.runtime = module.low..<max(module.low, module.high)
            }
        }
        programs[header.process] = program
    }
}
