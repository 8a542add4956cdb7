internal import CThreadStop
internal import Glibc
internal import TraceSymbols
internal import TraceWatch

/// Makes processes do without the runtime again.
extension Attachment {
    public enum Ending: Sendable, Equatable {
        case detached
        /// The process has ended, or become another program.
        case ended
        /// Calls no longer lead to the runtime, but a thread stays within its code, or cannot be stopped. So the memory that
        /// the runtime uses is left.
        case stuck
        /// The process has confined itself meanwhile, so that it was made to call nothing. What the runtime had is left.
        case confined
    }

    /// A process that is to be left: the one that was attached to, or one that it has forked.
    private struct Leaving {
        let pid: Int32
        let memory: ProcessMemory
        let stacks: NativeStacks
        let runtime: LoadedModule
        let words: AttachWords
        let sleds: [SledModule]
        /// Where the runtime's code is.
        let code: [Range<UInt64>]

        func isCode(_ address: UInt64) -> Bool { code.contains { $0.contains(address) } }
    }

    /// Points calls back to where they led before, closes sleds, and makes the runtime forget the session.
    ///
    /// - Parameter children: processes that this one has forked while it was recorded.
    @discardableResult
    public func detach(children: [Int32] = []) -> Ending {
        if let thread = try? heldAtSafePoint(within: 200) {
            look(at: thread)
            thread.letGo(standstills)
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
        slots = [:]
        standstills.release()
        return ending
    }

    /// Makes the runtime look once more for modules that were loaded.
    private func look(at thread: HeldThread) {
        guard let map = LinkMap(debug, memory), let runtime = Self.runtime(in: map),
            let look = runtime.addresses(of: "fathom_detach_soon", memory).first,
            let call = try? RemoteCall(thread, of: pid, places, memory)
        else { return }
        _ = try? call.call(look)
        call.giveBack()
    }

    private func leave(_ pid: Int32, _ memory: ProcessMemory, _ stacks: NativeStacks) -> Ending {
        let deadline = Standstills.now + UInt64(Self.patience) * 1_000_000
        var isOff = false
        while Standstills.now < deadline {
            // While the loader changes its list of modules, the list cannot be read.
            guard let map = LinkMap(debug, memory), let runtime = Self.runtime(in: map),
                let words = AttachWords(runtime, memory)
            else {
                if memory.load(debug, as: UInt64.self) == nil { return .ended }
                usleep(1000)
                continue
            }
            // Each slot is a word, through which threads may be calling meanwhile.
            PointedSlots(map, to: runtime, known: slots, memory, pid).point(toRuntime: false, memory)
            let mappings = Mappings(of: pid), path = mappings.region(at: runtime.dynamic)?.path
            let leaving = Leaving(
                pid: pid, memory: memory, stacks: stacks, runtime: runtime, words: words,
                sleds: stacks.modules.compactMap { SledModule($0) },
                code: mappings.regions.filter { $0.isExecutable && $0.path == path }.map(\.range)
                    + stacks.modules.compactMap { SledModule($0)?.stubs(words.stubsSize) })
            if !isOff, !leaving.sleds.isEmpty { isOff = closeSleds(leaving) }
            do throws(AttachError) {
                if let ending = try leave(leaving) { return ending }
            } catch {
                guard case .notReady = error else { return .ended }
                words.turnOff(memory, forGood: false)
            }
            usleep(2000)
        }
        return .stuck
    }

    /// Makes a thread close the sleds, while the others run. Any that is not in the runtime can.
    private func closeSleds(_ leaving: Leaving) -> Bool {
        guard let close = leaving.runtime.addresses(of: "fathom_close_sleds", leaving.memory).first else { return true }
        for tid in TaskFacts.threads(of: leaving.pid) {
            guard let thread = try? HeldThread(stopping: tid, of: leaving.pid, standstills) else { continue }
            defer { thread.letGo(standstills) }
            guard thread.isFree, !isInside(thread, leaving),
                let call = try? RemoteCall(thread, of: leaving.pid, places, leaving.memory)
            else { continue }
            defer { call.giveBack() }
            return (try? call.call(close)) != nil
        }
        return false
    }

    /// - Returns: Nil when a thread is in the midst of the runtime, or all of this would take too long.
    private func leave(_ leaving: Leaving) throws(AttachError) -> Ending? {
        let process = try heldProcess(leaving.pid, within: Self.patience / 2)
        defer { process.letGo() }
        if process.threads.contains(where: { Confinement(of: $0.tid, in: leaving.pid) == .own }) {
            for module in leaving.sleds { module.close(in: leaving.memory) }
            leaving.words.turnOff(leaving.memory, forGood: true)
            return .confined
        }
        for thread in process.threads where process.isOverdue || isInside(thread, leaving) { return nil }
        return leave(process, leaving) ? .detached : nil
    }

    /// Whether a thread runs the runtime's code, or will return to it.
    private func isInside(_ thread: HeldThread, _ leaving: Leaving) -> Bool {
        if leaving.isCode(thread.stopped.program_counter) { return true }
        let (frames, isWhole) = leaving.stacks.frames(of: thread.tid, thread.registers, most: 4096)
        if frames.contains(where: { leaving.isCode($0.address) }) { return true }
        if isWhole { return false }
        // Look for such addresses in the rest of the stack. This may find words that earlier calls have left there, and
        // then says yes without reason.
        let last = leaving.stacks.stackPointers.last.flatMap { $0 > 0 ? $0 : nil }
        return restOfStack(from: last ?? thread.stopped.stack_pointer, leaving.memory).contains(where: leaving.isCode)
    }

    /// Makes the runtime leave the session. Any thread may do this, because it needs no lock that another one may hold.
    private func leave(_ process: HeldProcess, _ leaving: Leaving) -> Bool {
        let memory = leaving.memory
        // A thread that the program made without the C library may have no thread-local memory.
        let pointers = process.threads.map(\.stopped.thread_pointer).filter {
            $0 != 0 && memory.load($0, as: UInt64.self) == $0
        }
        guard let leave = leaving.runtime.addresses(of: "fathom_detach", memory).first,
            let makeRoom = leaving.runtime.addresses(of: "fathom_attach_room", memory).first,
            let thread = process.threads.first(where: { $0.isFree && pointers.contains($0.stopped.thread_pointer) }),
            let call = try? RemoteCall(thread, of: leaving.pid, places, memory)
        else { return false }
        defer { call.giveBack() }
        let unique = Array(Set(pointers)), size = unique.count * 8
        let room = size <= RemoteCall.roomSize ? call.room : try? call.call(makeRoom, UInt64(size))
        guard let room, room != 0, unique.withUnsafeBytes({ memory.write($0, at: room) }),
            let result = try? call.call(leave, room, UInt64(unique.count))
        else { return false }
        return result & 0xffff_ffff == 0
    }
}
