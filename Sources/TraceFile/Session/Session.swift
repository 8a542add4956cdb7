internal import CTraceFormat
internal import Glibc

/// A session as it is on disk: processes, their threads, and the chunks of each.
///
/// Opening reads chunk headers and metadata only; records are decoded from the mapped log when they are asked for.
/// A session that is still being recorded may be opened; it shows what was recorded up to then.
public final class Session {
    /// The session directory.
    public let path: String
    public let clock: Clock
    public let clockIsCounter: Bool
    /// The session's start, in ns of CLOCK_REALTIME; 0 when unknown.
    public let startRealtimeNanoseconds: UInt64
    public let ticksPerSecond: UInt64
    public let processes: [TracedProcess]
    /// What `session.json` holds, or nil.
    public let description: SessionDescription?
    /// What is not as it was written. Grows while records are decoded.
    public let damage: DamageLog
    /// Size of the log in bytes; 0 when it is not there.
    public let logSize: Int
    /// The size that it has when it is not packed, which is what there is to read.
    public let plainLogSize: Int
    /// The bytes that the buffers take, without holes; 0 when they are not there.
    public let buffersSize: Int
    /// Calls known to be missing.
    public let losses: MissingCalls
    /// The number of all calls known to be missing, including those that chunks tell of.
    public var lostCalls: UInt64 {
        processes.lazy.flatMap(\.threads).reduce(losses.calls) { $0.addingClamped($1.lostCalls) }
    }
    /// What was kept of the calls.
    public let content: SessionContent
    /// Programs with hooks that were started and not recorded.
    public let missed: [MissedProgram]
    /// Whether a recorder was still there when the session was opened.
    public let isRecording: Bool

    /// When threads had no CPU, by the kernel's records of context switches; nil when the kernel did not tell of them.
    public let switches: SwitchLog?
    /// The page faults of threads; nil when the kernel did not tell of them.
    public let faults: FaultLog?
    /// When threads had no CPU, where only all their records tell.
    package let offCPUMemory = OffCPUMemory()
    /// The session's start, in ns of CLOCK_MONOTONIC.
    public let startNanoseconds: UInt64
    private let startup: MappedFile?

    let place: SessionPlace
    let log: LogMemory?
    private let buffers: SlotBuffers?

    /// Opens the session at `path`, a directory or a packed file, or `path.fathom` when `path` is a program.
    ///
    /// - Parameter readsCalls: whether the calls in the shared buffers are read, too. Without them, opening a session whose calls
    ///   are all in the buffers, as those of a flight recorder's ring are, takes only as long as reading its modules.
    /// - Throws: ``TraceFileError``. Damage is not thrown but collected in ``damage``.
    /// - Complexity: O(chunks), and the size of the shared buffers still in use.
    public init(path: String, readsCalls: Bool = true) throws(TraceFileError) {
        let directory = try Session.directory(at: path)
        let damage = DamageLog()
        let place = try SessionPlace(directory, damage)

        // The buffers are read first: a chunk that moves to the log meanwhile is then found twice, and not missed.
        let (buffersFile, buffersProblem) = place.file(.buffers)
        var buffers: SlotBuffers?
        if let buffersFile {
            buffers = try SlotBuffers(buffersFile, path: directory, damage: damage, readsCalls: readsCalls)
        }
        let isBeingRecorded =
            !place.isPacked && (buffers.map { Session.isRecorded(directory, by: $0.recorderPID) } ?? false)
        isRecording = isBeingRecorded
        let (log, logProblem) = try place.log(isGrowing: isBeingRecorded)
        var traceLog = log?.chunks

        // One list, sorted where it is.
        var chunks = traceLog?.takeChunks() ?? []
        chunks += buffers?.chunks ?? []
        guard let header = traceLog?.header ?? buffers?.header ?? FileHeader(chunks) else {
            throw logProblem ?? buffersProblem ?? .noHeader(path: directory)
        }
        func report(_ problem: TraceFileError?, in name: String) {
            guard let problem else { return }
            damage.report(
                Damage(file: name, offset: 0, lostBytes: 0, kind: .unreadableFile(reason: problem.reason)))
        }
        report(buffersProblem, in: SlotBuffers.name)
        report(logProblem, in: TraceLog.name)
        func mapped(_ file: SessionFile) -> MappedFile? {
            let (mapped, problem) = place.mapped(file)
            report(problem, in: file.name)
            return mapped
        }
        self.path = directory
        self.damage = damage
        self.place = place
        self.log = log?.memory
        self.buffers = buffers
        logSize = log?.size ?? 0
        plainLogSize = log?.plainSize ?? 0
        buffersSize = buffersFile?.allocatedSize ?? 0
        losses = traceLog?.header?.losses ?? MissingCalls(unplacedCalls: buffers?.unplacedCalls ?? 0)
        clockIsCounter = UInt32(header.clock) == FATHOM_CLOCK_COUNTER
        ticksPerSecond = header.ticksPerSecond
        startRealtimeNanoseconds = header.startRealtimeNanoseconds
        let clock = Session.clock(header, chunks: chunks)
        self.clock = clock
        // Chunks that belong to no process are the session's own.
        let own = chunks.partition { $0.process == FATHOM_NO_PROCESS }
        missed = chunks[own...].filter { $0.kind == .metadata && $0.payloadIsIntact }.flatMap {
            MissedProgram.all(in: $0.payload)
        }
        .sorted { $0.startTicks < $1.startTicks }
        chunks.removeLast(chunks.count - own)
        Session.sort(&chunks)
        func events(_ kind: KernelEvents) -> EventLog? {
            mapped(kind.file).map {
                EventLog(kind, $0, start: header.startNanoseconds, isGrowing: isBeingRecorded, damage: damage)
            }
        }
        let wakings = events(.wakings)
        let switches = events(.switches).map { SwitchLog($0, wakings: wakings) },
            faults = events(.faults).map(FaultLog.init)
        self.switches = switches
        self.faults = faults
        startNanoseconds = header.startNanoseconds
        startup = mapped(.startup)
        description = try SessionDescription(
            place.mapped(.description).0, path: directory + place.separator + SessionFile.description.name,
            damage: damage)
        let offCPU: OffCPUSource? =
            if let switches { .switches(switches) } else if let sources = description?.waitSources {
                sources.tellsCauses ? .waits(offCPUMemory) : .away(offCPUMemory)
            } else { nil }
        processes = Session.assemble(
            chunks, log: self.log, damage: damage, offCPU: offCPU, faults: faults, clock: clock)
        content = SessionContent(of: processes, description)
        if losses.calls > 0 { for process in processes { process.isCutShort = true } }
        Session.settleEnds(of: processes, now: isRecording && clockIsCounter ? fathom_counter() : nil)
    }

    /// Whether it was recorded what memory was allocated and freed.
    public var tellsMemory: Bool { description?.option(.memory) == "true" }
    /// Whether calls are known to have done something with memory: allocated it, or had page faults in it.
    public var followsMemory: Bool { tellsMemory || faults != nil }

    /// What the kernel told of the program's start; nil where that was not asked for, or cannot be read, which is reported.
    ///
    /// - Complexity: O(events log events).
    public func kernelStart() -> KernelStart? {
        startup.flatMap { KernelStart($0, isGrowing: isRecording, damage: damage) }
    }

    /// The file of names and lines that the session holds; nil when it has none. That it cannot be read is reported.
    public func names() -> MappedFile? {
        let (file, problem) = place.mapped(.names)
        if let problem { reportNames(0..<0, .unreadableFile(reason: problem.reason)) }
        return file
    }

    /// The source files that the session holds; nil when it has none. That they cannot be read is reported.
    public func sources() -> SourceArchive? {
        let (file, problem) = place.mapped(.sources)
        guard let file else {
            if let problem { report(.unreadableFile(reason: problem.reason), in: .sources, 0..<0) }
            return nil
        }
        let sources = SourceArchive(file.bytes)
        if sources == nil { report(.sources, in: .sources, 0..<file.size) }
        return sources
    }

    /// Reports that bytes of ``names()`` are damaged.
    public func reportNames(_ range: Range<Int>, _ kind: Damage.Kind = .names) {
        report(kind, in: .names, range)
    }

    private func report(_ kind: Damage.Kind, in file: SessionFile, _ range: Range<Int>) {
        damage.report(
            Damage(file: file.name, offset: UInt64(range.lowerBound), lostBytes: UInt64(range.count), kind: kind))
    }

    /// Whether the recorder is at work. Its id may be of another namespace than ours, but it holds the directory's
    /// lock.
    static func isRecorded(_ directory: String, by pid: UInt32) -> Bool {
        guard pid != 0 else { return false }
        if kill(pid_t(bitPattern: pid), 0) == 0 || errno != ESRCH { return true }
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Whether the directory at `path` holds what is recorded in one, or the file there is a packed session.
    public static func exists(at path: String) -> Bool {
        [TraceLog.name, SlotBuffers.name].contains { access("\(path)/\($0)", F_OK) == 0 } || isPacked(path)
    }

    /// Whether the file at `path` is a packed session.
    public static func isPacked(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return (try? PlainFile(path: path)).map(PackedFile.isOne) ?? false
    }

    /// Whether what is at `path`, or would be, is a packed session or one of a session's own files, which nothing else may replace.
    public static func owns(_ path: String) -> Bool { isPacked(path) || isPart(path) }

    /// Whether what is at `path`, or would be, is one of the files of a session that is a directory.
    public static func isPart(_ path: String) -> Bool {
        let name = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        let directory = name == path.startIndex ? "." : String(path[..<name])
        return SessionFile(named: String(path[name...])) != nil && exists(at: directory)
    }

    static func directory(at path: String) throws(TraceFileError) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        for candidate in [trimmed, trimmed + ".fathom", trimmed + ".fathomz"] {
            if exists(at: candidate) { return candidate }
            if let owner = SessionFiles.owner(ofForbidden: candidate) {
                throw .forbidden(path: candidate, owner: owner)
            }
        }
        if access(trimmed, F_OK) != 0 { throw .unreadable(path: path, errno: errno) }
        var status = stat()
        let isFile = stat(trimmed, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if isFile, access(trimmed, R_OK) != 0 { throw .unreadable(path: path, errno: errno) }
        let isProgram = isFile && access(trimmed, X_OK) == 0
        throw isProgram ? .notRecorded(path: path) : .notASession(path: path)
    }

    /// The clock from the longest stretch between two moments known in ticks and in ns.
    private static func clock(_ header: FileHeader, chunks: [Chunk]) -> Clock {
        guard UInt32(header.clock) == FATHOM_CLOCK_COUNTER else { return Clock(monotonicFrom: header.startTicks) }
        let measured = Clock(
            startTicks: header.startTicks, ticks: header.ticksPerSecond == 0 ? 1_000_000_000 : header.ticksPerSecond,
            nanoseconds: 1_000_000_000)
        var longest: (ticks: UInt64, nanoseconds: UInt64) = (0, 0)
        func consider(_ ticks: UInt64, _ nanoseconds: UInt64) {
            guard ticks > header.startTicks, nanoseconds > header.startNanoseconds else { return }
            let elapsed = (ticks: ticks - header.startTicks, nanoseconds: nanoseconds - header.startNanoseconds)
            guard elapsed.ticks > longest.ticks else { return }
            // The result is believed when the stretch is long enough to beat the recorder's own measurement, and the
            // result not far from that.
            let expected = Double(measured.nanoseconds(in: elapsed.ticks))
            let isPlausible = abs(expected - Double(elapsed.nanoseconds)) < expected / 100
            let isLong = elapsed.nanoseconds > 10_000_000
            if header.ticksPerSecond == 0 || isLong && isPlausible { longest = elapsed }
        }
        for chunk in chunks {
            consider(chunk.beginTicks, chunk.beginNanoseconds)
            if chunk.endTicks != 0 { consider(chunk.endTicks, chunk.endNanoseconds) }
        }
        guard longest.ticks > 0 else { return measured }
        return Clock(startTicks: header.startTicks, ticks: longest.ticks, nanoseconds: longest.nanoseconds)
    }

    /// Sorts chunks by process, thread and sequence number, each number once.
    private static func sort(_ chunks: inout [Chunk]) {
        func isBefore(_ a: Chunk, _ b: Chunk) -> Bool {
            (a.process, a.thread, a.sequence, b.payload.count) < (b.process, b.thread, b.sequence, a.payload.count)
        }
        if !zip(chunks, chunks.dropFirst()).allSatisfy({ isBefore($0, $1) }) { chunks.sort(by: isBefore) }
        // A chunk may be in the log and still in its slot; the fuller one comes first.
        var kept = 0
        for index in chunks.indices {
            let chunk = chunks[index]
            if kept > 0, case let last = chunks[kept - 1],
                (last.process, last.thread, last.sequence) == (chunk.process, chunk.thread, chunk.sequence)
            {
                continue
            }
            if kept != index { chunks[kept] = chunk }
            kept += 1
        }
        chunks.removeLast(chunks.count - kept)
    }

    /// Groups sorted chunks by process and thread.
    private static func assemble(
        _ sorted: [Chunk], log: LogMemory?, damage: DamageLog, offCPU: OffCPUSource?, faults: FaultLog?, clock: Clock
    ) -> [TracedProcess] {
        var byIndex: [UInt32: TracedProcess] = [:]
        var processes: [TracedProcess] = []
        var start = 0
        while start < sorted.count {
            let first = sorted[start]
            var next = start
            while next < sorted.count, sorted[next].process == first.process, sorted[next].thread == first.thread {
                next += 1
            }
            let group = ChunkList(sorted, start..<next)
            start = next
            let process: TracedProcess
            if let known = byIndex[first.process] {
                process = known
            } else {
                process = TracedProcess(index: first.process, pid: first.pid)
                byIndex[first.process] = process
                processes.append(process)
            }
            reportGaps(in: group, damage: damage)
            if first.thread == 0 {
                var reader = MetadataReader(process: process, damage: damage)
                reader.read(group) { index in
                    index < process.index ? byIndex[index] : nil
                }
            } else {
                process.threads.append(
                    TracedThread(
                        process: process, serial: first.thread, chunks: group, log: log, damage: damage,
                        switches: offCPU, faults: faults, clock: clock))
            }
        }
        return processes
    }

    /// Fills in ends that no item tells: those of images that another image of the same process followed, and of
    /// processes that are still being recorded.
    private static func settleEnds(of processes: [TracedProcess], now: UInt64?) {
        var next: [UInt32: TracedProcess] = [:]
        for process in processes.reversed() where !process.metadataIsLost {
            if process.end == .unknown || process.end == .exec {
                if let follower = next[process.pid], follower.origin == .image {
                    process.end = .exec
                    process.endTicks = follower.startTicks
                } else if process.end == .unknown, let now, kill(pid_t(bitPattern: process.pid), 0) == 0 {
                    process.endTicks = now
                }
            }
            next[process.pid] = process
        }
    }

    private static func reportGaps(in chunks: ChunkList, damage: DamageLog) {
        var expected: UInt64 = 0
        for chunk in chunks {
            if chunk.sequence > expected {
                damage.report(
                    Damage(
                        file: chunk.file, offset: chunk.offset, lostBytes: 0,
                        kind: .missingChunks(
                            process: chunk.process, thread: chunk.thread, first: expected,
                            count: chunk.sequence - expected)))
            }
            expected = chunk.sequence &+ 1
        }
    }
}
