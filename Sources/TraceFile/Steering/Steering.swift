internal import CTraceFormat
internal import Glibc
internal import TraceSystem
internal import TraceText

/// Steers a recording that is running, through the shared buffers in its session's directory (CTraceSteering.h).
///
/// It does not wait for the processes: the request stays there, and each process follows at its next call.
public final class Steering {
    public let path: String
    public let mode: RecordOptions.Mode
    private let descriptor: Int32
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let head: UnsafeMutablePointer<fathom_buffers>
    private let steering: UnsafeMutablePointer<fathom_steering>

    /// Finds the recording of a session.
    ///
    /// - Parameter path: the session's directory, or a program that was recorded into PROGRAM.fathom.
    public init(session path: String) throws(SteeringError) {
        let directory: String
        do throws(TraceFileError) {
            directory = try Session.directory(at: path)
        } catch {
            if let owner = Steering.stranger(owning: path) { throw .belongsTo(what: path, user: owner) }
            throw .noSession(reason: error.description)
        }
        self.path = directory
        let file = directory + "/" + SlotBuffers.name
        let descriptor = open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        self.descriptor = descriptor
        guard descriptor >= 0 else {
            let reason = errno
            if reason == ENOENT || Session.isPacked(directory) { throw .isOver(path: directory) }
            if reason == EACCES, let owner = Steering.stranger(owning: file) {
                throw .belongsTo(what: directory, user: owner)
            }
            throw .unreadable(path: file, errno: reason)
        }
        var header = fathom_buffers()
        let isRead = withUnsafeMutableBytes(of: &header) { pread(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
        let offset = Int(header.slots_offset) - Int(FATHOM_STEERING_SIZE)
        guard isRead, header.magic == FATHOM_BUFFERS_MAGIC, header.version == FATHOM_BUFFERS_VERSION,
            header.header_size == MemoryLayout<fathom_buffers>.size, header.ticks_per_second > 0,
            offset >= MemoryLayout<fathom_buffers>.size, offset % MemoryLayout<fathom_steering>.alignment == 0
        else {
            close(descriptor)
            throw .otherVersion(path: directory)
        }
        size = Int(header.slots_offset)
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else {
            let reason = errno
            close(descriptor)
            throw .unreadable(path: file, errno: reason)
        }
        base = memory
        head = memory.assumingMemoryBound(to: fathom_buffers.self)
        steering = (memory + offset).assumingMemoryBound(to: fathom_steering.self)
        mode =
            switch UInt32(header.keeps) {
            case FATHOM_KEEPS_TIMES: .profile
            case FATHOM_KEEPS_COUNTS: .counts
            case FATHOM_KEEPS_SAMPLES: .stack
            default: header.ring_slots > 0 ? .flight : .trace
            }
        guard recorder != nil || !processes().isEmpty else { throw .isDead(path: directory) }
    }

    /// Finds the recording of a process.
    public convenience init(process pid: Int32) throws(SteeringError) {
        guard pid > 0, kill(pid, 0) == 0 || errno == EPERM else { throw .noProcess(pid) }
        var status = stat()
        if stat("/proc/\(pid)", &status) == 0, status.st_uid != geteuid(), geteuid() != 0 {
            throw .belongsTo(what: "process \(pid)", user: Steering.name(of: status.st_uid))
        }
        guard let session = SessionOfProcess.directory(pid) else { throw .notRecorded(pid) }
        try self.init(session: session)
    }

    deinit {
        munmap(base, size)
        close(descriptor)
    }

    // MARK: Asking

    /// Starts or stops recording, in all processes.
    public func run(_ runs: Bool) {
        ask { next, number in
            next.wish.run_number = number
            next.wish.runs = runs ? 1 : 0
            next.wish.run_ticks = ticks()
        }
    }

    /// Sets limits for calls that begin from now on.
    ///
    /// - Parameters:
    ///   - maxDepth: the deepest depth to record, or nil for all; leaves the limit as it is when it is left out.
    ///   - minCost: the same, in ns; 0 for all.
    public func limit(maxDepth: Int??, minCost: UInt64?) throws(SteeringError) {
        if mode.keepsPaths {
            throw .notInMode(mode, reason: "it adds up all calls, and its sums would not be those of all any more")
        }
        ask { next, number in
            let wish = self.wish(next)
            next.wish.limits_number = number
            let depth = maxDepth ?? wish.maxDepth
            next.wish.max_depth = depth.map { UInt32(clamping: $0) }.map { $0 == .max ? $0 : $0 + 1 } ?? .max
            next.wish.min_cost_ticks = ticks(nanoseconds: minCost ?? wish.minCost)
        }
    }

    /// Takes other functions in place of those that were named, for calls that begin from now on. A process knows those of
    /// modules that are loaded later only if they are among these.
    ///
    /// - Parameters:
    ///   - all: everything that is done with any function, which must be neither triggers nor arguments.
    ///   - modules: their functions; nil where they cannot be read.
    ///   - text: the options by which they were named, for people.
    public func name(
        all: FunctionRule, modules: [(module: ModuleFile, functions: [NamedFunction]?)], text: String
    ) throws(SteeringError) {
        if mode.keepsPaths {
            throw .notInMode(mode, reason: "it adds up all calls, and its sums would not be those of all any more")
        }
        var number = steering.pointee.wish.functions_file
        while true {
            number &+= 1
            let file = "\(path)/\(SessionFile.functions.name).\(number)"
            do throws(SessionFileError) {
                let functions = try SharedFunctions(new: file, all: all)
                for (module, named) in modules { functions.tell(named, of: module) }
                break
            } catch .cannotCreate(_, EEXIST) {
                continue
            } catch {
                throw .files(error)
            }
        }
        ask { next, command in
            next.wish.functions_number = command
            next.wish.functions_file = number
            let bytes = Array(text.utf8.prefix(Int(FATHOM_STEERING_TEXT)))
            next.text_size = UInt32(bytes.count)
            withUnsafeMutableBytes(of: &next.text) { $0.copyBytes(from: bytes) }
        }
    }

    /// Saves: what a ring holds as a session of its own; else what was recorded until now goes to the session's files.
    public func save() throws(SteeringError) {
        guard mode == .flight else { return ask { next, number in next.wish.save_number = number } }
        guard recorder != nil else { throw .noRecorder(path: path) }
        locked {
            _ = fathom_add32(&steering.pointee.save_count, 1)
        }
        fathom_store32(&head.pointee.recorder_waits, 0)
        fathom_wake32(&head.pointee.recorder_waits)
    }

    /// Asks the recorder to end this session, and to begin another one in which it keeps something else of calls.
    public func change(to wanted: RecordOptions.Mode) throws(SteeringError) {
        guard wanted != mode else { return }
        guard let number = RecordOptions.Mode.allCases.firstIndex(of: wanted), wanted != .firstCalls else {
            throw .notInMode(mode, reason: "only a program's start can have --mode \(wanted.rawValue)")
        }
        guard recorder != nil else { throw .noRecorder(path: path) }
        guard steering.pointee.changes_mode != 0 else {
            throw .notInMode(
                mode,
                reason:
                    "a session keeps its mode, and only fathom record --attach begins another one; record anew with "
                    + "--mode \(wanted.rawValue)")
        }
        locked { steering.pointee.wanted_mode = UInt16(number + 1) }
    }

    /// Says that this recorder changes its mode when it is asked to.
    package func acceptChanges() {
        locked { steering.pointee.changes_mode = 1 }
    }

    /// The mode that the recorder was asked to change to.
    package var wantedMode: RecordOptions.Mode? {
        let number = Int(steering.pointee.wanted_mode), all = RecordOptions.Mode.allCases
        return (1...all.count).contains(number) ? all[number - 1] : nil
    }

    private func locked(_ body: () -> Void) {
        while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {}
        defer { flock(descriptor, LOCK_UN) }
        body()
    }

    private func ask(_ change: (inout fathom_steering, _ number: UInt32) -> Void) {
        locked {
            var next = steering.pointee
            if next.wish.sum != fathom_wish_sum(&next.wish) {
                // Nothing was asked yet, or a program has written over it.
                next.wish = fathom_wish()
                next.text_size = 0
            }
            var number = (next.asked >> UInt32(FATHOM_ASKED_SHIFT) &+ 1) << UInt32(FATHOM_ASKED_SHIFT)
            if number == 0 { number = 1 << UInt32(FATHOM_ASKED_SHIFT) }
            change(&next, number)
            next.asked_ns = SystemClock.realtime
            next.wish.sum = fathom_wish_sum(&next.wish)
            let first = MemoryLayout<fathom_steering>.offset(of: \.wish)!
            withUnsafeBytes(of: &next) { bytes in
                let body = UnsafeRawBufferPointer(rebasing: bytes[first...])
                (UnsafeMutableRawPointer(steering) + first).copyMemory(from: body.baseAddress!, byteCount: body.count)
            }
            fathom_store32(&steering.pointee.asked, number)
            fathom_wake_all32(&steering.pointee.asked)
        }
    }

    /// Waits until something else is asked than at a previous return of this (nil: than nothing), or the time is over.
    ///
    /// - Parameter time: in ns.
    public func awaitChange(of known: UInt32?, for time: UInt64) -> UInt32 {
        let now = fathom_load32(&steering.pointee.asked)
        if now == known ?? 0 { fathom_wait32(&steering.pointee.asked, now, time) }
        return fathom_load32(&steering.pointee.asked)
    }

    // MARK: Telling

    public var status: SteeringStatus {
        let asked = steering.pointee
        return SteeringStatus(
            session: path, mode: mode, recorder: recorder, number: asked.asked >> UInt32(FATHOM_ASKED_SHIFT),
            askedNanoseconds: asked.asked_ns, asked: wish(asked), functions: functions(asked),
            processes: processes(), isFull: isFull)
    }

    private func functions(_ asked: fathom_steering) -> String? {
        guard asked.wish.functions_number != 0 else { return nil }
        return withUnsafeBytes(of: asked.text) {
            String(decoding: $0.prefix(Int(min(asked.text_size, FATHOM_STEERING_TEXT))), as: UTF8.self)
        }
    }

    private func wish(_ asked: fathom_steering) -> SteeringStatus.Wish {
        let limits = asked.wish.limits_number == 0
        return wish(
            records: asked.wish.run_number == 0 ? head.pointee.paused == 0 : asked.wish.runs != 0,
            levels: limits ? head.pointee.max_depth : asked.wish.max_depth,
            ticks: limits ? head.pointee.min_cost_ticks : asked.wish.min_cost_ticks)
    }

    /// - Parameter levels: as in the head of the buffers.
    private func wish(records: Bool, levels: UInt32, ticks: UInt64) -> SteeringStatus.Wish {
        let cost = Double(ticks) * 1e9 / Double(head.pointee.ticks_per_second)
        return SteeringStatus.Wish(
            records: records, maxDepth: levels == .max ? nil : Int(levels) - 1, minCost: UInt64(cost.rounded()))
    }

    private var places: UnsafeBufferPointer<fathom_steered> {
        let start = UnsafeRawPointer(steering) + Int(FATHOM_STEERED_OFFSET)
        let count = (Int(FATHOM_STEERING_SIZE) - Int(FATHOM_STEERED_OFFSET)) / MemoryLayout<fathom_steered>.stride
        return UnsafeBufferPointer(start: start.assumingMemoryBound(to: fathom_steered.self), count: count)
    }

    private var isFull: Bool { places.allSatisfy { $0.pid != 0 } }

    private func processes() -> [SteeringStatus.Process] {
        var living = LivingProcesses()
        let functions = steering.pointee.wish.functions_number
        return places.filter { $0.pid != 0 && living.contains($0.pid) }.map { place in
            let wish = wish(
                records: place.state == FATHOM_STEERED_RECORDING, levels: place.max_depth, ticks: place.min_cost_ticks)
            return SteeringStatus.Process(
                pid: Int32(bitPattern: place.pid), does: place.state == FATHOM_STEERED_OFF ? nil : wish,
                taken: place.taken >> UInt32(FATHOM_ASKED_SHIFT), threads: Int(place.threads),
                currentThreads: Int(place.current),
                lacksFunctions: place.functions_number != functions && place.taken >= functions)
        }.sorted { $0.pid < $1.pid }
    }

    private var recorder: Int32? {
        let pid = fathom_load32(&head.pointee.recorder_pid)
        return Session.isRecorded(path, by: pid) ? Int32(bitPattern: pid) : nil
    }

    // MARK: The session's clock

    private func ticks() -> UInt64 { SessionClock.ticks(byCounter: UInt32(head.pointee.clock) == FATHOM_CLOCK_COUNTER) }

    private func ticks(nanoseconds: UInt64) -> UInt64 {
        let ticks = Double(nanoseconds) * Double(head.pointee.ticks_per_second) / 1e9
        return ticks < Double(UInt64.max) ? UInt64(ticks) : .max
    }

    // MARK: Finding it

    /// Who owns a file, if we may not use it for that reason.
    private static func stranger(owning path: String) -> String? {
        for candidate in [path, path + ".fathom"] {
            var status = stat()
            guard stat(candidate, &status) == 0, access(candidate, R_OK | W_OK) != 0, status.st_uid != geteuid() else {
                continue
            }
            return name(of: status.st_uid)
        }
        return nil
    }

    private static func name(of user: uid_t) -> String {
        getpwuid(user).map { "user " + String(cString: $0.pointee.pw_name) } ?? "user \(user)"
    }
}
