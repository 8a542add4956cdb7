internal import CThreadStop
internal import Glibc
internal import TraceFile
internal import TraceSymbols
internal import TraceWatch

/// Loads the runtime into a running program that was started without it, and later makes the program do without it.
///
/// ``attach(session:)`` points the program's calls of hooks to the runtime, and ``detach(children:)`` points them back.
/// Only one thread of this process may use an attachment.
public final class Attachment {
    public let pid: Int32
    private let runtimePath: String
    private let memory: ProcessMemory
    private let places: CodePlaces
    private let debug: UInt64
    private let stacks: NativeStacks
    private var slots: [UInt64: PointedSlots.Slot] = [:]
    private var entries: [UInt64] = []
    /// Where the process keeps the calls that were open.
    private var inherited: (address: UInt64, size: Int)?

    /// How long to wait for the process's threads to come to a point where they are needed, in ms.
    private static let patience = 5000

    /// Finds out whether the process can be attached to. Nothing is done to it.
    ///
    /// - Parameter runtime: path of libfathom.so.
    public init(_ pid: Int32, runtime: String) throws(AttachError) {
        self.pid = pid
        runtimePath = runtime
        try Admission.check(pid)
        guard let memory = ProcessMemory(pid, writes: true) else { throw Admission.refusal(pid, errno) }
        let (debug, map, places) = try Self.awaitLoader(pid, memory)
        guard let stacks = NativeStacks(of: pid, load: { memory.load($0) }) else { throw .ended(pid) }
        self.memory = memory
        self.debug = debug
        self.places = places
        self.stacks = stacks
        if let runtime = Self.runtime(in: map) {
            guard !runtime.addresses(of: "fathom_attach", memory).isEmpty else {
                throw .refused(pid, reason: "another version of Fathom's runtime is in it")
            }
        }
        let hasHooks = map.modules.contains { module in
            !module.isSystem && !Self.isRuntime(module) && !module.slots(for: PointedSlots.hooks, memory).isEmpty
        }
        guard hasHooks else {
            throw .refused(
                pid,
                reason: "no hooks are in it; build it with fathom build -- make (or swift build), or with "
                    + "-finstrument-functions; fathom sample looks at programs without hooks")
        }
    }

    /// A program that was started a moment ago may not have its libraries yet.
    private static func awaitLoader(
        _ pid: Int32, _ memory: ProcessMemory
    ) throws(AttachError) -> (UInt64, LinkMap, CodePlaces) {
        for _ in 0..<patience / 5 {
            if let debug = LinkMap.place(in: pid, memory), let map = LinkMap(debug, memory), map.modules.count > 1,
                let places = CodePlaces(pid, memory)
            {
                return (debug, map, places)
            }
            if TaskFacts(pid)?.hasEnded ?? true { throw .ended(pid) }
            usleep(5000)
        }
        throw .notReady(pid, reason: "its dynamic loader has not loaded its libraries, or takes too long to")
    }

    private static func isRuntime(_ module: LoadedModule) -> Bool {
        module.fileName.hasPrefix("libfathom") && module.fileName.contains(".so")
    }
    private static func runtime(in map: LinkMap) -> LoadedModule? { map.modules.first(where: isRuntime) }

    /// In ms.
    private static var now: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }

    // MARK: Attaching

    /// Lets the process record into a session.
    ///
    /// - Parameter session: the absolute path of its directory.
    public func attach(session: String) throws(AttachError) {
        // Somebody may have attached before and been killed.
        if let (_, _, now) = pointable(), now.leadSomewhere(memory) { _ = detach() }
        try join(session)
        do throws(AttachError) {
            try point()
        } catch {
            _ = detach()
            throw error
        }
    }

    /// Loads the runtime and makes it join the session.
    private func join(_ session: String) throws(AttachError) {
        let thread = try heldAtSafePoint(within: Self.patience)
        defer { thread.letGo() }
        do throws(RemoteCall.Failure) {
            let call = try RemoteCall(thread, places, memory)
            defer { call.end() }
            guard let map = LinkMap(debug, memory) else { throw .impossible("its loader is busy loading a library") }
            let errnoAt = try function("__errno_location", in: map).map { at throws(RemoteCall.Failure) in
                try call.call(at)
            }
            let number = errnoAt.flatMap { memory.load($0, as: Int32.self) }
            defer { if let errnoAt, let number { memory.store(errnoAt, number) } }
            if Self.runtime(in: map) == nil { try load(call, map) }
            guard let loaded = LinkMap(debug, memory), let runtime = Self.runtime(in: loaded),
                let attach = runtime.addresses(of: "fathom_attach", memory).first
            else { throw .impossible("the runtime was loaded, but the loader does not list it") }
            guard put(session, at: call.room) else { throw .ended }
            switch Int32(truncatingIfNeeded: try call.call(attach, call.room)) {
            case 0: break
            case 1: throw .impossible("it is being recorded already, or a thread has not left the last recording yet")
            default:
                throw .impossible(
                    "it cannot open the session \(session): it may see other directories, as in a container, or lack "
                        + "the right")
            }
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: RemoteCall.Failure) -> AttachError {
        switch error {
        case .ended: .ended(pid)
        case .impossible(let reason): .refused(pid, reason: reason)
        }
    }

    private func put(_ text: String, at address: UInt64) -> Bool {
        let bytes = Array(text.utf8) + [0]
        return bytes.count <= RemoteCall.roomSize && bytes.withUnsafeBytes { memory.write($0, at: address) }
    }

    private func function(_ name: String, in map: LinkMap) -> UInt64? {
        map.modules.lazy.filter(\.isSystem).compactMap { $0.addresses(of: name, self.memory).last }.first
    }

    private func load(_ call: RemoteCall, _ map: LinkMap) throws(RemoteCall.Failure) {
        // Before glibc 2.34, a program without libdl has only the C library's internal function.
        guard let open = function("dlopen", in: map) ?? function("__libc_dlopen_mode", in: map) else {
            throw .impossible("its C library has no dlopen")
        }
        guard put(runtimePath, at: call.room) else { throw .ended }
        // Without RTLD_GLOBAL, libraries that the program loads later find the symbols that they would have found.
        if try call.call(open, call.room, UInt64(RTLD_NOW)) != 0 { return }
        var reason = "it cannot load \(runtimePath)"
        if let tell = function("dlerror", in: map) {
            let text = try call.call(tell)
            if text != 0, let text = memory.text(text), !text.isEmpty { reason += ": " + text }
        }
        throw .impossible(reason)
    }

    /// Holds a thread where it may call the loader.
    private func heldAtSafePoint(within patience: Int) throws(AttachError) -> HeldThread {
        stacks.lookAgain()
        let safe = SafePoint(stacks)
        var waited = 0
        while true {
            // The first thread is tried first, because others may not have called the allocator yet.
            var tids = TaskFacts.threads(of: pid)
            if waited < patience / 20, tids.first == pid { tids = [pid] }
            if tids.isEmpty || TaskFacts(pid)?.hasEnded ?? true { throw .ended(pid) }
            for tid in tids {
                do throws(HeldThread.Failure) {
                    try HeldThread.ask(tid)
                    let thread: HeldThread
                    do throws(HeldThread.Failure) { thread = try HeldThread(stopping: tid, in: pid) } catch {
                        if error == .late { HeldThread.abandon(tid, of: pid) }
                        throw error
                    }
                    let (frames, isWhole) = stacks.frames(of: tid, thread.registers)
                    // Some stacks cannot be followed to their ends. After half of the time, a thread with such a stack
                    // will do, too, if it waits.
                    let isEnough = isWhole || (waited > patience / 2 && thread.stopped.system_call >= 0)
                    if thread.isFree, safe.holds(frames, isWhole: isEnough) { return thread }
                    thread.letGo()
                } catch {
                    if error == .refused { throw Admission.refusal(pid, EPERM) }
                    if error == .foreign { throw .refused(pid, reason: "it is a 32-bit program") }
                }
            }
            guard waited < patience else {
                throw .notReady(
                    pid,
                    reason: "none of its threads was found at a point where it may load a library, within "
                        + "\(patience / 1000) s; try again")
            }
            usleep(5000)
            waited += 5
        }
    }

    /// Holds all threads, and tries again where one does not stop.
    private func heldProcess(_ pid: Int32) throws(AttachError) -> HeldProcess {
        for _ in 0..<20 {
            do throws(HeldThread.Failure) { return try HeldProcess(pid) } catch {
                switch error {
                case .gone: throw .ended(pid)
                case .refused: throw Admission.refusal(pid, EPERM)
                case .foreign: throw .refused(pid, reason: "it is a 32-bit program")
                case .late: usleep(10_000)
                }
            }
        }
        throw .notReady(pid, reason: "one of its threads does not stop: it waits for a device")
    }

    /// Lets the slots of all modules lead to the runtime, and tells it which calls are open at that moment.
    private func point() throws(AttachError) {
        stacks.lookAgain()
        guard let (_, runtime, found) = pointable() else {
            throw .notReady(pid, reason: "its loader is busy loading a library")
        }
        let dynamics = found.hooked
        // What takes long is done before the threads are held.
        let open = OpenCalls(stacks) { module in dynamics.contains { module.low <= $0 && $0 < module.high } }
        let process = try heldProcess(pid)
        defer { process.letGo() }
        guard let (map, _, now) = pointable() else {
            throw .notReady(pid, reason: "its loader is busy loading a library")
        }
        var words: [UInt64] = [UInt64(process.threads.count)]
        for thread in process.threads {
            let (frames, _) = stacks.frames(of: thread.tid, thread.registers, most: 4096)
            let calls = open.calls(frames, stacks.stackPointers)
            words += [UInt64(thread.tid), UInt64(calls.count)]
            for call in calls { words += [call.function, call.site, call.place] }
        }
        try tell(words, process, runtime)
        now.point(toRuntime: true, memory)
        slots = now.byAddress
        entries = map.entries
    }

    private func pointable() -> (LinkMap, LoadedModule, PointedSlots)? {
        guard let map = LinkMap(debug, memory), let runtime = Self.runtime(in: map) else { return nil }
        return (map, runtime, PointedSlots(map, to: runtime, known: slots, memory, pid))
    }

    private func tell(_ words: [UInt64], _ process: HeldProcess, _ runtime: LoadedModule) throws(AttachError) {
        guard let variable = runtime.addresses(of: "fathom_inherited", memory).first,
            let thread = process.threads.first(where: \.isFree)
        else { return }
        do throws(RemoteCall.Failure) {
            let call = try RemoteCall(thread, places, memory)
            defer { call.end() }
            let size = words.count * MemoryLayout<UInt64>.size, address = try call.map(size)
            guard words.withUnsafeBytes({ memory.write($0, at: address) }), memory.store(variable, address) else {
                throw .ended
            }
            inherited = (address, size)
        } catch {
            throw failure(error)
        }
    }

    // MARK: While it records

    /// Whether the process is still the one that was attached to.
    public var isAlive: Bool {
        memory.load(debug, as: UInt64.self) != nil && TaskFacts(pid).map { !$0.hasEnded } ?? false
    }

    /// Looks whether modules were loaded, and lets their calls lead to the runtime, too. Call this often.
    ///
    /// - Complexity: O(modules + slots).
    public func look() {
        guard let entries = LinkMap.entries(debug, memory) else { return }
        let isPointed = slots.values.allSatisfy { memory.load($0.address, as: UInt64.self) == $0.after }
        if entries == self.entries, isPointed { return }
        guard let process = try? heldProcess(pid) else { return }
        defer { process.letGo() }
        guard let (map, _, now) = pointable() else { return }
        now.point(toRuntime: true, memory)
        slots = now.byAddress
        self.entries = map.entries
    }

    // MARK: Detaching

    public enum Ending: Sendable, Equatable {
        case detached
        /// The process has ended, or become another program.
        case ended
        /// Calls no longer lead to the runtime, but a thread stays within its code. So the memory that the runtime uses
        /// is left.
        case stuck
    }

    /// Points calls back to where they led before, and makes the runtime forget the session.
    ///
    /// - Parameter children: processes that this one has forked while it was recorded.
    @discardableResult
    public func detach(children: [Int32] = []) -> Ending {
        if let thread = try? heldAtSafePoint(within: 200) {
            look(at: thread)
            thread.letGo()
        }
        stacks.lookAgain()
        let ending = leave(pid, memory, stacks)
        for child in children where child != pid {
            if let memory = ProcessMemory(child, writes: true),
                let stacks = NativeStacks(of: child, load: { memory.load($0) })
            {
                _ = leave(child, memory, stacks)
            }
        }
        inherited = nil
        slots = [:]
        return ending
    }

    /// Makes the runtime look once more for modules that were loaded.
    private func look(at thread: HeldThread) {
        guard let map = LinkMap(debug, memory), let runtime = Self.runtime(in: map),
            let look = runtime.addresses(of: "fathom_detach_soon", memory).first,
            let call = try? RemoteCall(thread, places, memory)
        else { return }
        _ = try? call.call(look)
        call.end()
    }

    private func leave(_ pid: Int32, _ memory: ProcessMemory, _ stacks: NativeStacks) -> Ending {
        let deadline = Self.now + UInt64(Self.patience)
        while Self.now < deadline {
            let process: HeldProcess
            do throws(AttachError) { process = try heldProcess(pid) } catch {
                if case .notReady = error { continue }
                return .ended
            }
            // While the loader changes its list of modules, the list cannot be read.
            guard let map = LinkMap(debug, memory), let runtime = Self.runtime(in: map),
                let leave = runtime.addresses(of: "fathom_detach", memory).first
            else {
                let isThere = memory.load(debug, as: UInt64.self) != nil
                process.letGo()
                guard isThere else { return .ended }
                usleep(1000)
                continue
            }
            PointedSlots(map, to: runtime, known: slots, memory, pid).point(toRuntime: false, memory)
            let code = Mappings(of: pid).regions.filter {
                $0.isExecutable && $0.path == Mappings(of: pid).region(at: runtime.dynamic)?.path
            }
            let isOutside = process.threads.allSatisfy { thread in
                !isInside(thread, code.map(\.range), stacks, memory)
            }
            let isDone = isOutside && self.leave(process, leave, memory)
            process.letGo()
            if isDone { return .detached }
            usleep(1000)
        }
        return .stuck
    }

    /// Whether a thread runs the runtime's code, or will return to it.
    private func isInside(
        _ thread: HeldThread, _ code: [Range<UInt64>], _ stacks: NativeStacks, _ memory: ProcessMemory
    ) -> Bool {
        let isCode = { (address: UInt64) in code.contains { $0.contains(address) } }
        if isCode(thread.stopped.program_counter) { return true }
        let (frames, isWhole) = stacks.frames(of: thread.tid, thread.registers, most: 4096)
        if frames.contains(where: { isCode($0.address) }) { return true }
        if isWhole { return false }
        // Look for such addresses in the rest of the stack. This may find words that earlier calls have left there, and
        // then says yes without reason.
        let pointer = stacks.stackPointers.last.flatMap { $0 > 0 ? $0 : nil } ?? thread.stopped.stack_pointer
        guard let region = Mappings(of: thread.tid).region(at: pointer) else { return false }
        let count = Int(min(region.range.upperBound - (pointer & ~7), 1 << 20) / 8)
        return memory.array(pointer & ~7, count: count, of: UInt64.self)?.contains(where: isCode) ?? false
    }

    /// Makes the runtime leave the session. Any thread may do this, because it needs no lock that another one may hold.
    private func leave(_ process: HeldProcess, _ leave: UInt64, _ memory: ProcessMemory) -> Bool {
        // A thread that the program made without the C library may have no thread-local memory.
        let pointers = process.threads.map(\.stopped.thread_pointer).filter {
            $0 != 0 && memory.load($0, as: UInt64.self) == $0
        }
        guard let thread = process.threads.first(where: { $0.isFree && pointers.contains($0.stopped.thread_pointer) }),
            let call = try? RemoteCall(thread, places, memory)
        else { return false }
        defer { call.end() }
        let unique = Array(Set(pointers)), size = unique.count * 8
        guard let room = size <= RemoteCall.roomSize ? call.room : try? call.map(size),
            unique.withUnsafeBytes({ memory.write($0, at: room) }),
            let result = try? call.call(leave, room, UInt64(unique.count))
        else { return false }
        if room != call.room { call.unmap(room, size) }
        if result & 0xffff_ffff != 0 { return false }
        if let inherited { call.unmap(inherited.address, inherited.size) }
        return true
    }
}
