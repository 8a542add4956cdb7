internal import CThreadStop
internal import Glibc
internal import TraceSymbols
internal import TraceWatch

/// Threads that are held for what has to be done in them.
extension Attachment {
    /// Looks at all threads without holding them, or for a moment only, so that what their functions are called and how their
    /// stacks are rebuilt is known when they are held.
    func warmUp(_ use: ([NativeFrame]) -> Void) {
        for tid in TaskFacts.threads(of: pid).prefix(64) {
            if let (frames, _) = framesFromBeside(tid) { use(frames) }
        }
    }

    /// The frames of a thread, which goes on. One that is blocked is not stopped; of another, the stack is copied.
    private func framesFromBeside(_ tid: Int32) -> (frames: [NativeFrame], isWhole: Bool)? {
        if case .blocked(let call) = BlockedCall.of(tid, in: pid) {
            let registers = NativeRegisters(stackPointer: call.stackPointer, programCounter: call.programCounter)
            return stacks.frames(of: tid, registers)
        }
        guard let thread = try? HeldThread(stopping: tid, of: pid, standstills) else { return nil }
        copies.copy(from: thread.stopped.stack_pointer)
        thread.letGo(standstills)
        defer { copies.forget() }
        return stacks.frames(of: tid, thread.registers)
    }

    /// Holds a thread where it may call the loader.
    ///
    /// - Parameter patience: in ms.
    func heldAtSafePoint(within patience: Int) throws(AttachError) -> HeldThread {
        stacks.lookAgain()
        guard let map = LinkMap(debug, memory) else {
            throw .notReady(pid, reason: "its loader is busy loading a library")
        }
        let safe = SafePoint(stacks, map, memory)
        warmUp { frames in _ = safe.holds(frames, isWhole: true) }
        let begin = Standstills.now, end = begin + UInt64(patience) * 1_000_000
        var refusals = 0
        while true {
            standstills.release()
            let waited = Standstills.now - begin
            // The first thread is tried first, because others may not have called the allocator yet.
            var tids = TaskFacts.threads(of: pid)
            if waited < (end - begin) / 20, tids.first == pid { tids = [pid] }
            if tids.isEmpty || TaskFacts(pid)?.hasEnded ?? true { throw .ended(pid) }
            for tid in tids {
                do throws(HeldThread.Failure) {
                    let looked = lookFromBeside(tid, safe, isPatient: waited < 100_000_000)
                    if looked == .isNot { continue }
                    let thread = try HeldThread(stopping: tid, of: pid, standstills)
                    if thread.isFree, case .isBlocked(let call) = looked, thread.isIn(call) { return thread }
                    let (frames, isWhole) = stacks.frames(of: tid, thread.registers)
                    // Some stacks cannot be followed to their ends. After half of the time, a thread with such a stack
                    // will do, too, if it waits, and nothing in the rest of its stack speaks against that.
                    let isEnough = isWhole || (waited > (end - begin) / 2 && isHarmless(thread, safe))
                    if thread.isFree, safe.holds(frames, isWhole: isEnough) { return thread }
                    thread.letGo(standstills)
                } catch {
                    if error == .refused { refusals += 1 }
                    if error == .foreign { throw .refused(pid, reason: "it is a 32-bit program") }
                }
            }
            // A thread may have ended meanwhile.
            if refusals > 2 { throw Admission.refusal(pid, EPERM) }
            guard Standstills.now < end else {
                throw .notReady(
                    pid,
                    reason: "none of its threads was found at a point where it may load a library, within "
                        + "\(patience / 1000) s: they are in the allocator or the loader, in the kernel, or where nobody "
                        + "knows; try again")
            }
            usleep(5000)
        }
    }

    private enum Looked: Equatable {
        case unknown
        /// It is not where it may call the loader.
        case isNot
        /// It may, as long as it is blocked in this call.
        case isBlocked(BlockedCall)
    }

    /// Whether it is worth stopping a thread to find out whether it may call the loader. One that is blocked in a call that
    /// would have to begin anew, with all of its time, is left alone as long as there is time.
    private func lookFromBeside(_ tid: Int32, _ safe: SafePoint, isPatient: Bool) -> Looked {
        guard case .blocked(let call) = BlockedCall.of(tid, in: pid) else { return .unknown }
        if isPatient, SystemCalls.mayBeginAnew(call, of: pid) { return .isNot }
        let registers = NativeRegisters(stackPointer: call.stackPointer, programCounter: call.programCounter)
        let (frames, isWhole) = stacks.frames(of: tid, registers)
        if !isWhole { return .unknown }
        return safe.holds(frames, isWhole: true) ? .isBlocked(call) : .isNot
    }

    private func isHarmless(_ thread: HeldThread, _ safe: SafePoint) -> Bool {
        let pointer = stacks.stackPointers.last.flatMap { $0 > 0 ? $0 : nil } ?? thread.stopped.stack_pointer
        return thread.stopped.system_call >= 0 && !safe.mayHold(memory.words(from: pointer & ~7, most: 1 << 17))
    }

    /// Holds all threads of a process, and tries again where one does not stop.
    ///
    /// - Parameter patience: in ms.
    func heldProcess(_ pid: Int32, within patience: Int) throws(AttachError) -> HeldProcess {
        let end = Standstills.now + UInt64(patience) * 1_000_000
        var tries = 0, late: Int32 = 0, refusals = 0
        repeat {
            let begin = Standstills.now
            do throws(HeldThread.Failure) { return try HeldProcess(pid, standstills) } catch {
                switch error {
                case .gone: throw .ended(pid)
                // A thread may have ended meanwhile.
                case .refused where refusals > 2: throw Admission.refusal(pid, EPERM)
                case .refused: refusals += 1
                case .foreign: throw .refused(pid, reason: "it is a 32-bit program")
                case .late(let tid): late = tid
                }
            }
            // Where threads have stood still in vain, they go on for much longer before that happens again.
            let stood = Standstills.now - begin
            if stood > Standstills.patience / 2 { tries += 1 }
            let pause = Standstills.now + max(stood * 8, 5_000_000)
            while Standstills.now < pause {
                standstills.release()
                usleep(2000)
            }
        } while Standstills.now < end && tries < 8
        throw doesNotStop(late)
    }

    func doesNotStop(_ tid: Int32) -> AttachError {
        .notReady(
            pid,
            reason:
                "its thread \(tid) (\(TaskFacts(pid, thread: tid)?.name ?? "")) does not stop: it waits in the kernel, "
                + "for a device, or for the program that it starts (vfork)")
    }
}
