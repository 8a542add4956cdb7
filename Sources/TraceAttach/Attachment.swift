internal import CThreadStop
internal import Glibc
internal import TraceFile
internal import TraceSymbols
internal import TraceWatch

/// Loads the runtime into a running program that was started without it, and later makes the program do without it.
///
/// ``attach(session:)`` points the program's calls of hooks to the runtime and opens its sleds, and ``detach(children:)``
/// undoes that. Only one thread of this process may use an attachment.
public final class Attachment {
    public let pid: Int32
    private let runtimePath: String
    let memory: ProcessMemory
    let places: CodePlaces
    let debug: UInt64
    let stacks: NativeStacks
    let copies: StackCopies
    let standstills = Standstills()
    /// What leads to the runtime now.
    var pointed: PointedSlots?
    private var entries: [UInt64] = []

    /// How long to wait for the process's threads to come to a point where they are needed, in ms.
    static let patience = 5000

    /// Finds out whether the process can be attached to. Nothing is done to it.
    ///
    /// - Parameters:
    ///   - runtime: path of libfathom.so.
    ///   - needsHooks: whether nothing could be recorded of a program without hooks.
    public init(_ pid: Int32, runtime: String, needsHooks: Bool = true) throws(AttachError) {
        self.pid = pid
        runtimePath = runtime
        try Admission.check(pid)
        guard let memory = ProcessMemory(pid, writes: true) else { throw Admission.refusal(pid, errno) }
        let (debug, map, places) = try Self.awaitLoader(pid, memory)
        let copies = StackCopies(memory)
        guard let stacks = NativeStacks(of: pid, load: { copies.load($0) }) else { throw .ended(pid) }
        self.memory = memory
        self.debug = debug
        self.places = places
        self.copies = copies
        self.stacks = stacks
        if let runtime = Self.runtime(in: map) {
            guard !runtime.addresses(of: "fathom_attach_move", memory).isEmpty else {
                throw .refused(pid, reason: "another version of Fathom's runtime is in it")
            }
        }
        let hasHooks = map.modules.contains { module in
            !module.isSystem && !Self.isRuntime(module) && !module.slots(for: PointedSlots.hooks, memory).isEmpty
        }
        guard hasHooks || !needsHooks || stacks.modules.contains(where: { SledModule($0) != nil }) else {
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
                let places = CodePlaces(pid, map, memory)
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
    static func runtime(in map: LinkMap) -> LoadedModule? { map.modules.first(where: isRuntime) }

    /// The longest time for which a thread of the process has stood still, in ns.
    public var longestStandstill: UInt64 { standstills.longest }

    // MARK: Attaching

    /// Lets the process record into a session.
    ///
    /// - Parameter session: the absolute path of its directory.
    public func attach(session: String) throws(AttachError) {
        // Somebody may have attached before and been killed.
        if let (map, runtime, now) = pointable(), now.leadSomewhere(memory) || isAttached(runtime, map) { _ = detach() }
        try awaitStops()
        try join(session)
        do throws(AttachError) {
            try point()
        } catch {
            _ = detach()
            throw error
        }
    }

    /// Waits until no thread waits where it cannot be stopped. As long as that is so, nothing is done to the process.
    private func awaitStops() throws(AttachError) {
        let end = Standstills.now + UInt64(Self.patience) * 1_000_000
        while let tid = TaskFacts.threads(of: pid).first(where: { HeldThread.waitsInKernel($0, of: pid) }) {
            guard Standstills.now < end else { throw doesNotStop(tid) }
            usleep(5000)
        }
    }

    private func isAttached(_ runtime: LoadedModule, _ map: LinkMap) -> Bool {
        AttachWords(runtime, memory)?.isAttached(memory) ?? false
    }

    /// Loads the runtime and makes it join the session. Nothing is recorded yet.
    private func join(_ session: String) throws(AttachError) {
        // What the loader reads is there when it comes.
        _ = SystemFile.contents(of: runtimePath)
        guard let map = LinkMap(debug, memory) else {
            throw .notReady(pid, reason: "its loader is busy loading a library")
        }
        let errnoFunction = function("__errno_location", in: map)
        // Before glibc 2.34, a program without libdl has only the C library's internal function.
        let open = function("dlopen", in: map) ?? function("__libc_dlopen_mode", in: map)
        let tell = function("dlerror", in: map), hasRuntime = Self.runtime(in: map) != nil
        let thread = try heldAtSafePoint(within: Self.patience)
        defer { thread.letGo(standstills) }
        do throws(RemoteCall.Failure) {
            let call = try RemoteCall(thread, of: pid, places, memory)
            defer { call.giveBack() }
            let errnoAt = try errnoFunction.map { at throws(RemoteCall.Failure) in
                try call.call(at)
            }
            let number = errnoAt.flatMap { memory.load($0, as: Int32.self) }
            defer { if let errnoAt, let number { memory.store(errnoAt, number) } }
            if !hasRuntime { try load(call, open, tell) }
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
        case .confined: .refused(pid, reason: Admission.confined)
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

    private func load(_ call: RemoteCall, _ open: UInt64?, _ tell: UInt64?) throws(RemoteCall.Failure) {
        guard let open else { throw .impossible("its C library has no dlopen") }
        guard put(runtimePath, at: call.room) else { throw .ended }
        // Without RTLD_GLOBAL, libraries that the program loads later find the symbols that they would have found.
        if try call.call(open, call.room, UInt64(RTLD_NOW)) != 0 { return }
        var reason = "it cannot load \(runtimePath)"
        if let tell {
            let text = try call.call(tell)
            if text != 0, let text = memory.text(text), !text.isEmpty { reason += ": " + text }
        }
        throw .impossible(reason)
    }

    /// Lets the slots of all modules lead to the runtime, tells it which calls are open at that moment, and lets it begin.
    private func point() throws(AttachError) {
        stacks.lookAgain()
        guard let (map, runtime, found) = pointable() else {
            throw .notReady(pid, reason: "its loader is busy loading a library")
        }
        let dynamics = found.hooked
        // What takes long is done before the threads are held.
        let open = OpenCalls(stacks, memory) { module in
            dynamics.contains { module.low <= $0 && $0 < module.high } || SledModule(module) != nil
        }
        warmUp { frames in _ = open.calls(frames, stacks.stackPointers) }
        for attempt in 1... {
            if let (map, _, found) = attempt == 1 ? (map, runtime, found) : pointable(),
                try point(found, map, runtime, open)
            {
                return
            }
            guard attempt < 8 else {
                throw .notReady(
                    pid,
                    reason: "its threads would have to stand still for longer than "
                        + "\(Standstills.limit / 1_000_000) ms, or load libraries all the time; try again")
            }
            usleep(200_000)
        }
    }

    /// - Returns: False when that would take too long, or no thread can be made to call something. Then nothing is done.
    private func point(
        _ found: PointedSlots, _ map: LinkMap, _ runtime: LoadedModule, _ open: OpenCalls
    ) throws(AttachError) -> Bool {
        let room = runtime.addresses(of: "fathom_attach_room", memory).first
        let move = runtime.addresses(of: "fathom_attach_move", memory).first
        let begin = runtime.addresses(of: "fathom_attach_begin", memory).first
        let process = try heldProcess(pid, within: Self.patience)
        defer { process.letGo() }
        guard LinkMap.entries(debug, memory) == map.entries else { return false }
        var words: [UInt64] = [UInt64(process.threads.count)], others: [UInt64] = []
        // One that is in a call of the kernel may have to begin it anew.
        let movable = process.threads.filter { $0.stopped.system_call < 0 }
        for thread in process.threads {
            let (frames, isWhole) = stacks.frames(of: thread.tid, thread.registers, most: 4096)
            others += returns(of: thread, frames, isWhole)
            let calls = open.calls(frames, stacks.stackPointers)
            words += [UInt64(thread.tid), UInt64(calls.count)]
            for call in calls { words += [call.function, call.site, call.place] }
            if process.isOverdue { return false }
        }
        words += [UInt64(movable.count), UInt64(others.count)] + movable.map(\.stopped.program_counter) + others
        let placesAt = (words.count - movable.count - others.count) * MemoryLayout<UInt64>.size
        guard let caller = process.threads.first(where: \.isFree), let room, let move, let begin else { return false }
        // Before the runtime begins, because it makes slots lead to stubs, by which calls go on to what it finds there.
        var now = found.asTheyAre(memory)
        now.point(toRuntime: true, memory)
        pointed = now
        do throws(RemoteCall.Failure) {
            let call = try RemoteCall(caller, of: pid, places, memory)
            defer { call.giveBack() }
            let address = try call.call(room, UInt64(words.count * MemoryLayout<UInt64>.size))
            guard address != 0 else { throw .impossible("it has no room for more memory") }
            guard words.withUnsafeBytes({ memory.write($0, at: address) }) else { throw .ended }
            _ = try call.call(move)
            for (index, thread) in movable.enumerated() {
                guard let place = memory.load(address &+ UInt64(placesAt + index * 8), as: UInt64.self) else {
                    throw .ended
                }
                if place == thread.stopped.program_counter { continue }
                if thread.tid == caller.tid { call.move(to: place) } else { thread.move(to: place) }
            }
            _ = try call.call(begin)
        } catch {
            throw failure(error)
        }
        entries = map.entries
        return true
    }

    /// Where a thread is in a call of the kernel, and where handlers of signals on its stack return to; where the stack cannot be followed
    /// to its end, all that may be such an address.
    private func returns(of thread: HeldThread, _ frames: [NativeFrame], _ isWhole: Bool) -> [UInt64] {
        var found = frames.dropFirst().filter(\.isExact).map(\.address)
        if thread.stopped.system_call >= 0 { found.append(thread.stopped.program_counter) }
        if isWhole { return found }
        let last = stacks.stackPointers.last.flatMap { $0 > 0 ? $0 : nil } ?? thread.stopped.stack_pointer
        let words = memory.words(from: last & ~7, most: 1 << 17)
        return found + words.filter { word in stacks.modules.contains { $0.low <= word && word < $0.high } }
    }

    func pointable() -> (LinkMap, LoadedModule, PointedSlots)? {
        guard let map = LinkMap(debug, memory), let runtime = Self.runtime(in: map) else { return nil }
        return (map, runtime, PointedSlots(map, to: runtime, known: pointed?.byAddress ?? [:], memory, pid))
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
        standstills.release()
        guard let entries = LinkMap.entries(debug, memory) else { return }
        if entries == self.entries, pointed?.allLead(memory) ?? true { return }
        guard let (map, _, found) = pointable(), let process = try? HeldProcess(pid, standstills) else { return }
        defer { process.letGo() }
        guard LinkMap.entries(debug, memory) == map.entries else { return }
        var now = found.asTheyAre(memory)
        now.point(toRuntime: true, memory)
        pointed = now
        self.entries = map.entries
    }
}
