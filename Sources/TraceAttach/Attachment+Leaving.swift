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
        pointed = nil
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
        let sleds = stacks.modules.compactMap { SledModule($0) }
        var isOff = false
        while Standstills.now < deadline {
            guard let process = RuntimeProcess(pid, debug, memory, places, stacks, sleds, standstills) else {
                if memory.load(debug, as: UInt64.self) == nil { return .ended }
                usleep(1000)
                continue
            }
            // Each slot is a word, through which threads may be calling meanwhile.
            pointBack(process)
            if !isOff, !process.sleds.isEmpty || process.hasDetours { isOff = process.call("fathom_close_sleds") }
            do throws(AttachError) {
                if let ending = try leave(process) { return ending }
            } catch {
                guard case .notReady = error else { return .ended }
                process.words.turnOff(memory, forGood: false)
            }
            usleep(2000)
        }
        return .stuck
    }

    /// - Returns: Nil when a thread is in the midst of the runtime, or all of this would take too long.
    private func leave(_ process: RuntimeProcess) throws(AttachError) -> Ending? {
        let held = try heldProcess(process.pid, within: Self.patience / 2)
        defer { held.letGo() }
        let able = held.threads.prefix(16).first { Confinement(of: $0.tid, in: process.pid) != .own }
        if able == nil {
            for module in process.sleds { module.close(in: process.memory) }
            process.words.turnOff(process.memory, forGood: true)
            return .confined
        }
        for thread in held.threads where held.isOverdue || process.isInside(thread) { return nil }
        guard leave(held, process) else { return nil }
        // What led to the runtime by stubs leads there without them now.
        pointBack(process)
        return .detached
    }

    private func pointBack(_ process: RuntimeProcess) {
        var slots = PointedSlots(
            process.map, to: process.runtime, known: pointed?.byAddress ?? [:], process.memory, process.pid)
        slots.point(toRuntime: false, process.memory)
    }

    /// Makes the runtime leave the session. Any thread may do this, because it needs no lock that another one may hold.
    private func leave(_ held: HeldProcess, _ process: RuntimeProcess) -> Bool {
        let memory = process.memory, runtime = process.runtime
        // A thread that the program made without the C library may have no thread-local memory.
        let pointers = held.threads.map(\.stopped.thread_pointer).filter {
            $0 != 0 && memory.load($0, as: UInt64.self) == $0
        }
        var made: RemoteCall?
        for thread in held.threads where thread.isFree && pointers.contains(thread.stopped.thread_pointer) {
            made = try? RemoteCall(thread, of: process.pid, places, memory)
            if made != nil { break }
        }
        guard let call = made else { return false }
        defer { call.giveBack() }
        guard let leave = runtime.addresses(of: "fathom_detach", memory).first,
            let makeRoom = runtime.addresses(of: "fathom_attach_room", memory).first
        else { return false }
        let unique = Array(Set(pointers)), size = unique.count * 8
        let room = size <= RemoteCall.roomSize ? call.room : try? call.call(makeRoom, UInt64(size))
        guard let room, room != 0, unique.withUnsafeBytes({ memory.write($0, at: room) }),
            let result = try? call.call(leave, room, UInt64(unique.count))
        else { return false }
        return result & 0xffff_ffff == 0
    }
}
