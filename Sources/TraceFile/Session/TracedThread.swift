/// One thread of a process and its chunks.
public final class TracedThread {
    public unowned let process: TracedProcess
    /// 1, 2, ... in the process.
    public let serial: UInt32
    /// The kernel's thread id. A task has ``firstTask`` plus its own id.
    public let tid: UInt32
    /// Sorted by sequence; numbers may be missing.
    public let chunks: ChunkList
    /// Whether the chunks hold call paths and what their calls add up to, and not the calls.
    public let keepsPaths: Bool
    /// The Swift task whose calls these are, from all threads; nil for a thread.
    public let task: UInt32?
    /// Greater than any of the kernel's ids, because /proc/sys/kernel/pid_max is at most 2^22.
    public static let firstTask: UInt32 = 1 << 30
    /// Whether the records were put together in memory.
    public let isJoined: Bool
    private let damage: DamageLog
    /// Where `chunks` lie; nil for those of the buffers, and for those that were put together.
    private let log: LogMemory?
    /// When the tracer took time, over all of the thread.
    private let tracer: TracerTime
    /// How long the thread had a CPU, over all of the thread.
    private let processor: ProcessorTime
    /// The memory that `chunks` lie in, when that is not the session's.
    private let memory: JoinedChunks?
    private var states: [PayloadState]
    private var read = MappedFile.ReadStretch()
    private var held = PackedLog.Holding()
    /// When threads had no CPU, where that was recorded.
    private let switches: OffCPUSource?
    /// The page faults of threads, where the kernel told of them.
    private let faultLog: FaultLog?
    private let clock: Clock
    private var knownOffCPU: OffCPU?
    private let isPart: Bool

    private enum PayloadState { case unread, intact, damaged }

    /// What tells a thread of its session, and each of its parts.
    package struct Key: Hashable, Sendable {
        package var process: UInt32
        package var serial: UInt32

        package init(process: UInt32, serial: UInt32) { (self.process, self.serial) = (process, serial) }
    }

    package var key: Key { Key(process: process.index, serial: serial) }

    init(
        process: TracedProcess, serial: UInt32, chunks: ChunkList, log: LogMemory?, damage: DamageLog,
        tracer: TracerTime? = nil, processor: ProcessorTime? = nil, switches: OffCPUSource? = nil,
        faults: FaultLog? = nil,
        clock: Clock = Clock(monotonicFrom: 0), isPart: Bool = false
    ) {
        self.isPart = isPart
        self.tracer = tracer ?? TracerTime(chunks)
        self.processor = processor ?? ProcessorTime(chunks)
        self.switches = switches
        faultLog = faults
        self.clock = clock
        self.process = process
        self.serial = serial
        self.tid = chunks.last?.tid ?? 0
        self.chunks = chunks
        self.log = log
        self.damage = damage
        keepsPaths = chunks.first?.kind == .paths
        task = nil
        isJoined = false
        memory = nil
        states = Array(repeating: .unread, count: chunks.count)
    }

    /// Calls put together from threads of `process`: those of a Swift task, or what `thread` did besides tasks.
    ///
    /// - Parameter offCPU: when these had no CPU; nil when that is not known.
    public init(
        _ process: TracedProcess, task: UInt32?, thread: TracedThread?, chunks memory: JoinedChunks, offCPU: OffCPU?
    ) {
        self.process = process
        self.task = task
        serial = thread?.serial ?? 0
        tid = task.map { TracedThread.firstTask &+ $0 } ?? thread?.tid ?? 0
        chunks = ChunkList(memory.chunks, memory.chunks.indices)
        self.memory = memory
        isJoined = true
        isPart = false
        keepsPaths = false
        log = nil
        tracer = TracerTime.none
        processor = ProcessorTime(ChunkList([], 0..<0))
        switches = offCPU.map(OffCPUSource.joined)
        faultLog = nil
        clock = Clock(monotonicFrom: 0)
        damage = DamageLog()
        states = Array(repeating: .intact, count: chunks.count)
    }

    deinit { letGo() }

    /// Gives back what is held of a packed log.
    private func letGo() { if case .packed(let log)? = log { log.release(&held) } }

    /// The chunks `range` as a thread of their own, which may be read while others read the rest.
    ///
    /// - Parameter damage: takes what is found there.
    public func part(_ range: Range<Int>, damage: DamageLog) -> TracedThread {
        TracedThread(
            process: process, serial: serial, chunks: chunks.part(range), log: log, damage: damage, tracer: tracer,
            processor: processor, switches: switches, faults: faultLog, clock: clock, isPart: true)
    }

    /// The same thread on the clock that all threads share, where what the tracer took is part of calls.
    public var onSharedClock: TracedThread {
        TracedThread(
            process: process, serial: serial, chunks: chunks, log: log, damage: damage, tracer: TracerTime.none,
            processor: processor, switches: switches, faults: faultLog, clock: clock)
    }

    /// When the thread had no CPU; nil when that was not recorded.
    ///
    /// - Complexity: O(switches of the thread) the first time; O(records) over all cores where only waits tell, and nobody kept
    ///   what was found before.
    public func offCPU() -> OffCPU? {
        if knownOffCPU == nil { knownOffCPU = findOffCPU() }
        return knownOffCPU
    }

    /// Whether ``offCPU()`` answers at once, because that was asked for before or needs no records.
    public var knowsOffCPU: Bool {
        switch switches {
        case .waits, .away: knownOffCPU != nil
        case nil, .switches, .joined: true
        }
    }

    /// Takes over what ``findOffCPU()`` has found meanwhile.
    public func know(_ offCPU: OffCPU?) { knownOffCPU = offCPU }

    /// The thread's own time, which leaves out the tracer's, at a moment of the session, both in ns.
    public func own(_ moment: UInt64) -> UInt64 {
        let ticks = clock.ticks(at: moment)
        let taken = tracerTicks(upTo: ticks)
        return taken == 0 ? moment : clock.nanoseconds(at: ticks > taken ? ticks &- taken : 0)
    }

    /// The thread's own time at a moment of the session's clock, in ns.
    ///
    /// - Complexity: O(log chunks).
    public func own(ticks: UInt64, _ clock: Clock) -> UInt64 {
        let taken = tracerTicks(upTo: ticks)
        return clock.nanoseconds(at: ticks > taken ? ticks &- taken : 0)
    }

    /// From the thread's first moment to its last one, in its own time, in ns.
    ///
    /// - Parameter clock: the session's.
    /// - Complexity: as of ``lastTicks()``.
    public func span(_ clock: Clock) -> Range<UInt64> {
        guard let first = chunks.first else { return 0..<0 }
        var cursor = first.records
        cursor.ticks = first.beginTicks
        // What was put together from threads begins with its first record, whenever its chunk does.
        if isJoined { _ = cursor.next() }
        let begin = own(clock.nanoseconds(at: cursor.ticks))
        return begin..<max(begin, own(clock.nanoseconds(at: lastTicks())))
    }

    /// As ``offCPU()``, by somebody who may not use the thread now because others do.
    public func findOffCPU() -> OffCPU? {
        guard !keepsPaths else { return nil }
        switch switches {
        case nil: return nil
        case .switches(let log):
            return OffCPU(withoutTracer(processor.corrected(log.stretches(of: tid), clock)), own: own)
        case .waits(let memory): return OffCPU(stretches(in: memory) { Array(chunks.indices) }, own: own)
        case .away(let memory):
            // A stretch is told after it, perhaps in the next chunk.
            let asked = {
                let had = self.chunks.map(\.hadCPU)
                return had.indices.filter { $0 == 0 || !had[$0] || !had[$0 - 1] }
            }
            return OffCPU(stretches(in: memory, asked), own: own)
        case .joined(let times): return times
        }
    }

    /// What is known of the whole thread, or what is found in the chunks that are asked.
    private func stretches(in memory: OffCPUMemory, _ asked: () -> [Int]) -> [SwitchLog.Stretch] {
        if let known = memory.stretches(of: self) { return known }
        let asked = asked(), found = DamageLog()
        // A part is read by one of many who read at the same time.
        let size = isPart ? max(asked.count, 1) : 128
        let pieces = stride(from: 0, to: asked.count, by: size).map { asked[$0..<min($0 + size, asked.count)] }
        var results = [[SwitchLog.Stretch]](repeating: [], count: pieces.count)
        let pool = WorkerPool(jobs: pieces.count) { job, pool in
            let piece = pieces[job], first = piece.first!
            let part = self.part(first..<piece.last! + 1, damage: found)
            let result = part.waitStretches(in: piece.map { $0 - first })
            pool.exclusively { results[job] = result }
        }
        pool.run(workers: isPart ? 1 : min(WorkerPool.processors, pieces.count))
        let all = Array(results.joined())
        report(found)
        if !isPart, found.entries.isEmpty { memory.put(all, of: self) }
        return all
    }

    /// Takes what the thread waited between two of its chunks for what it is: the thread would have gone on, and had to wait for the
    /// recorder.
    private func withoutTracer(_ stretches: [SwitchLog.Stretch]) -> [SwitchLog.Stretch] {
        var index = 0
        return stretches.map { stretch in
            let next = {
                index + 1 < self.chunks.count ? self.clock.nanoseconds(at: self.chunks[index + 1].beginTicks) : .max
            }
            while next() <= stretch.begin { index += 1 }
            guard !stretch.wantsCPU, index + 1 < chunks.count, chunks[index].endTicks > 0, !chunks[index].isStopped,
                stretch.begin >= clock.nanoseconds(at: chunks[index].endTicks)
            else { return stretch }
            return SwitchLog.Stretch(begin: stretch.begin, end: stretch.end, wantsCPU: true)
        }
    }

    /// The stretches in which calls that wait did so, where nobody else tells.
    private func waitStretches(in asked: [Int]) -> [SwitchLog.Stretch] {
        var result: [SwitchLog.Stretch] = []
        for index in asked where payloadIsIntact(ofChunk: index) {
            var cursor = chunks[index].records
            cursor.ticks = chunks[index].beginTicks
            var begin = cursor.ticks
            var wait: RecordedWait?
            reading: while true {
                switch cursor.next() {
                case .enter: begin = cursor.ticks
                case .told:
                    switch cursor.told {
                    case .wait(let told): wait = told
                    case .away(let time):
                        let end = clock.nanoseconds(at: cursor.ticks)
                        result.append(SwitchLog.Stretch(begin: end - min(time, end), end: end, wantsCPU: false))
                    default: break
                    }
                case .exit, .unwind:
                    guard let ended = wait else { continue }
                    wait = nil
                    let start = clock.nanoseconds(at: begin)
                    let blocked = ended.blocked(from: start, to: clock.nanoseconds(at: cursor.ticks))
                    if blocked > 0 {
                        result.append(SwitchLog.Stretch(begin: start, end: start + blocked, wantsCPU: false))
                    }
                case .end, .malformed: break reading
                default: break
                }
            }
            if index == chunks.count - 1, chunks[index].awayAtEnd > 0 {
                let last = clock.nanoseconds(at: cursor.ticks), end = clock.nanoseconds(at: lastTicks())
                let time = min(chunks[index].awayAtEnd, end - min(last, end))
                if time > 0 { result.append(SwitchLog.Stretch(begin: last, end: last + time, wantsCPU: false)) }
            }
            release(chunk: index)
        }
        return result
    }

    /// Tells of all memory that was allocated and freed, in the order of the records, with the moment in ticks by the session's
    /// clock.
    ///
    /// - Complexity: O(records).
    public func forEachBlock(_ body: (RecordedBlock, _ ticks: UInt64) -> Void) {
        for index in chunks.indices where payloadIsIntact(ofChunk: index) {
            var cursor = chunks[index].records
            cursor.ticks = chunks[index].beginTicks
            reading: while true {
                switch cursor.next() {
                case .told: if case .memory(let block) = cursor.told { body(block, cursor.ticks) }
                case .end, .malformed: break reading
                default: break
                }
            }
            release(chunk: index)
        }
    }

    /// The thread's page faults, in the order of time; nil when the kernel did not tell of them, or these are calls put together
    /// from several threads, which have them among their records.
    ///
    /// - Complexity: O(page faults of the thread).
    public func faults() -> [PageFault]? { keepsPaths ? nil : faultLog?.faults(of: tid, clock: clock) }

    /// Whether it is known when the thread had no CPU.
    public var splitsTimes: Bool { switches != nil && !keepsPaths }

    /// Whether chunk `index` follows the one before it and lists all calls that are open between them.
    public func canBeSplit(at index: Int) -> Bool {
        if keepsPaths { return false }
        let (before, chunk) = (chunks[index - 1], chunks[index])
        return chunk.sequence == before.sequence &+ 1 && chunk.lostCalls == 0 && chunk.lane == 0
            && chunk.depth == chunk.pathCount && before.endTicks != 0 && before.endTicks <= chunk.beginTicks
            && !before.isTruncated && !before.isStopped && !chunk.restatesPath
    }

    /// Whether each chunk follows the one before it and lists all calls that are open in between, and begins on the thread's
    /// own stack.
    ///
    /// - Complexity: O(chunks).
    public var hasWholePaths: Bool {
        chunks.first.map { $0.lane == 0 && $0.depth == $0.pathCount } ?? true
            && chunks.indices.dropFirst().allSatisfy { canBeSplit(at: $0) && !chunks[$0].hasGap }
    }

    /// Ticks that the tracer took of the thread at chunk switches up to `ticks`, as far as it is known exactly: time that
    /// is in no call's duration.
    ///
    /// - Complexity: O(log chunks).
    public func tracerTicks(upTo ticks: UInt64) -> UInt64 { tracer.ticks(upTo: ticks) }

    /// Ticks that the tracer took of the thread at all chunk switches.
    public var tracerTicks: UInt64 { tracer.total }

    /// Adds damage found while reading a ``part(_:damage:)``.
    public func report(_ found: DamageLog) {
        for entry in found.entries { damage.report(entry) }
    }

    /// The name the thread had last, or empty.
    public var name: String { chunks.last { !$0.name.isEmpty }?.name ?? "" }
    /// Whether the thread was seen to end.
    public var hasEnded: Bool { chunks.last?.isLast ?? false }
    /// Whether what the thread did first is not kept. The calls that were open then count as inherited.
    public var isCut: Bool { chunks.first?.isCut ?? false }
    /// Whether calls that are open in the last record lasted until the process ended.
    public var lastsAsLongAsProcess: Bool { !hasEnded && !process.isCutShort }
    /// Calls that left no record, as far as is known.
    public var lostCalls: UInt64 {
        chunks.reduce(keepsPaths ? pathTotals.lost : 0) { $0 &+ $1.lostCalls }
    }
    /// What the thread's call paths are in all; nothing where there are calls instead. Damage is reported.
    public private(set) lazy var pathTotals: PathTotals = {
        var totals = PathTotals()
        for index in chunks.indices where chunks[index].kind == .paths && payloadIsIntact(ofChunk: index) {
            totals.add(chunks[index].payload)
        }
        letGo()
        return totals
    }()
    /// The calls of the thread's outermost call paths, or their samples; 0 where there are calls instead.
    public var outermostCalls: UInt64 {
        var calls: UInt64 = 0
        defer { letGo() }
        for index in chunks.indices where chunks[index].kind == .paths && payloadIsIntact(ofChunk: index) {
            chunks[index].pathUnits?.forEach { _, unit in
                if unit.kind == .path, unit.path == nil { calls &+= unit.calls }
            }
        }
        return calls
    }
    public var orphanExits: UInt64 { chunks.reduce(0) { $0 &+ $1.orphanExits } }
    /// Bytes of chunk headers and payloads.
    public var bytes: Int { chunks.reduce(0) { $0 + $1.size } }

    /// Whether the payload of chunk `index` may be read; a checksum that does not hold is reported once.
    ///
    /// - Complexity: O(payload) the first time.
    public func payloadIsIntact(ofChunk index: Int) -> Bool {
        guard states[index] != .damaged else { return false }
        let chunk = chunks[index]
        if hold(chunk: index), states[index] == .intact || chunk.payloadIsIntact {
            states[index] = .intact
            return true
        }
        states[index] = .damaged
        damage.report(
            Damage(file: chunk.file, offset: chunk.offset, lostBytes: UInt64(chunk.size), kind: .payloadSum))
        return false
    }

    /// Has the payload of chunk `index` in memory, until this is asked for two others or ``release(chunk:)`` is called.
    ///
    /// - Returns: Whether there is something to read. It may not be intact yet.
    public func hold(chunk index: Int) -> Bool {
        guard case .packed(let log)? = log, case let chunk = chunks[index], chunk.isLogged, !chunk.payload.isEmpty
        else {
            return true
        }
        return log.hold(chunk.payload.baseAddress!, by: &held)
    }

    /// The call at `depth` that is open where chunk `index` begins, which lists it; nil when the chunk is damaged, which is reported
    /// where all of it is read.
    ///
    /// - Complexity: O(payload) the first time. Of a packed log, less is read than of the payload.
    public func openCall(_ depth: Int, ofChunk index: Int) -> PathEntry? {
        let chunk = chunks[index]
        if case .packed(let log)? = log, chunk.isLogged, states[index] == .unread {
            return log.path(chunk.payload.baseAddress!, at: depth)
        }
        guard payloadIsIntact(ofChunk: index) else { return nil }
        defer { release(chunk: index) }
        return chunk.path(at: depth)
    }

    /// Tells that chunk `index` is not needed for now.
    public func release(chunk index: Int) {
        let isLast = index == chunks.count - 1
        switch log {
        case .mapped(let file)?:
            if chunks[index].isLogged { file.release(chunks[index].payload, of: &read, isLast: isLast) }
        case .packed?: if isLast { letGo() }
        case nil: break
        }
    }

    /// Adds damage found while decoding chunk `index`, `bytes` before the payload's end.
    public func report(_ kind: Damage.Kind, inChunk index: Int, remaining bytes: Int = 0) {
        let chunk = chunks[index]
        // The cut of a truncated chunk was reported when the file was read.
        if kind == .malformedRecord, chunk.isTruncated { return }
        let payloadEnd = chunk.offset + UInt64(chunk.size)
        damage.report(
            Damage(
                file: chunk.file, offset: bytes == 0 ? chunk.offset : payloadEnd - UInt64(bytes),
                lostBytes: UInt64(bytes), kind: kind))
    }

    /// The last moment known of the thread, in ticks: of its records, or its process's end if it was there then and nothing
    /// is missing; or up to which it slept, of a process whose end is not known.
    ///
    /// - Complexity: O(records) of an unfinished last chunk. Damage there is reported.
    public func lastTicks() -> UInt64 {
        guard let last = chunks.last else { return 0 }
        defer { letGo() }
        if keepsPaths {
            return max(pathTotals.lastTicks, last.endTicks, lastsAsLongAsProcess ? process.endTicks : 0)
        }
        var cursor = last.records
        cursor.ticks = last.beginTicks
        if last.endTicks == 0, payloadIsIntact(ofChunk: chunks.count - 1) {
            reading: while true {
                switch cursor.next() {
                case .end, .malformed: break reading
                default: break
                }
            }
        }
        // What was put together from threads ends with its last chunk.
        let isOpen = lastsAsLongAsProcess && !last.isStopped && !isJoined
        return max(end(of: last, lastRecord: cursor.ticks), isOpen ? process.endTicks : 0)
    }

    /// When a chunk ends whose last record is of the moment `ticks`, in ticks. Of a process whose end is not known, an unfinished
    /// chunk lasts for as long as the thread was seen to sleep after that.
    public func end(of chunk: Chunk, lastRecord ticks: UInt64) -> UInt64 {
        let slept = process.endTicks == 0 ? clock.ticks(in: chunk.awayAtEnd) : 0
        return max(ticks.addingClamped(slept), chunk.endTicks)
    }

    /// Counts the thread's calls. Those of chunks never finished are counted in their records, if these are intact.
    ///
    /// - Complexity: O(chunks), and O(records) of unfinished chunks. Damage there is reported.
    public func countCalls() -> UInt64 {
        if keepsPaths { return pathTotals.calls }
        defer { letGo() }
        var total: UInt64 = 0
        for (index, chunk) in chunks.enumerated() {
            guard chunk.endTicks == 0 || chunk.isTruncated else {
                total &+= chunk.calls
                continue
            }
            guard payloadIsIntact(ofChunk: index) else { continue }
            var cursor = chunk.records
            reading: while true {
                switch cursor.next() {
                case .enter: total &+= 1
                case .end, .malformed: break reading
                default: break
                }
            }
        }
        return total
    }
}
