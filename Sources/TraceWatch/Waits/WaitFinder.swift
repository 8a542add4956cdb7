internal import TraceFile
internal import TraceSymbols
internal import TraceText

/// Finds out what the threads of a process wait for, from what the kernel tells of them. No thread is stopped for it.
public final class WaitFinder {
    private let pid: Int32
    private let memory: ProcessMemory?
    private lazy var stacks = NativeStacks(of: pid) { [memory] in memory?.load($0) }

    public init(_ pid: Int32) {
        self.pid = pid
        memory = ProcessMemory(pid)
    }

    /// What a thread was found to do.
    public struct Finding: Sendable {
        /// Nil when it runs, or when the kernel does not tell.
        public var wait: ObservedWait?
        /// Functions of libraries that it waits in, innermost first.
        public var functions: [String] = []
        /// The system call that it waits in, where the kernel tells it.
        package var call: BlockedCall?
    }

    /// - Parameters:
    ///   - tid: a thread.
    ///   - threads: all of the process.
    public func find(_ tid: Int32, among threads: [Int32]) -> Finding {
        let answer = BlockedCall.of(tid, in: pid)
        guard case .blocked(let call) = answer else { return Finding(wait: withoutCall(tid, answer)) }
        let functions = functions(of: tid, call)
        let wait = wait(tid, call, functions, Set(threads.map { UInt32(bitPattern: $0) }))
        // It may have gone on while it was looked at. Then the answer would be made of two moments.
        guard BlockedCall.of(tid, in: pid) == answer else { return Finding() }
        return Finding(wait: wait, functions: functions, call: call)
    }

    /// Where the kernel does not tell the call, it may tell where it sleeps, or at least that it does.
    private func withoutCall(_ tid: Int32, _ answer: BlockedCall.Answer) -> ObservedWait? {
        guard let facts = TaskFacts(pid, thread: tid) else { return nil }
        if facts.isStopped { return ObservedWait("stopped", "a signal to go on: it is stopped") }
        let place = SystemFile.firstLine(of: "/proc/\(pid)/task/\(tid)/wchan")
        let isPlace = !place.isEmpty && place != "0"
        switch facts.state {
        case "D": return ObservedWait("device", "a device" + (isPlace ? " (in the kernel's \(place))" : ""))
        case "S" where answer == .unknown:
            return ObservedWait(
                "unknown", isPlace ? "something in the kernel's \(place)" : "something that the kernel does not tell")
        default: return nil
        }
    }

    /// The functions that called the kernel, up to the first of the program itself.
    private func functions(of tid: Int32, _ call: BlockedCall) -> [String] {
        guard let stacks else { return [] }
        let registers = NativeRegisters(stackPointer: call.stackPointer, programCounter: call.programCounter)
        var functions: [String] = []
        for frame in stacks.frames(of: tid, registers, most: 16).frames {
            guard let symbol = stacks.symbol(at: frame), !symbol.isProgram else { break }
            if symbol.isKnown, functions.last != symbol.name { functions.append(symbol.name) }
        }
        return functions
    }

    private func wait(_ tid: Int32, _ call: BlockedCall, _ functions: [String], _ threads: Set<UInt32>) -> ObservedWait
    {
        guard let number = SystemCalls.name(call.number) else {
            return ObservedWait("system call", "system call \(call.number)")
        }
        let name = number == "restart_syscall" ? WaitFinder.restarted(functions) ?? number : number
        switch name {
        case "futex":
            let wait = FutexWait(
                tid: tid, stackPointer: call.stackPointer, threads: threads, functions: functions,
                load: { [memory] in memory?.load($0) },
                holder: { self.holder($0, for: tid) })
            return wait.wait(call.arguments)
        case "nanosleep", "clock_nanosleep":
            let request = call.arguments[name == "nanosleep" ? 0 : 2]
            return ObservedWait(
                "sleep",
                "the end of a sleep" + sleepText(request, isUntil: name != "nanosleep" && call.arguments[1] & 1 != 0))
        case "wait4", "waitid", "vfork": return child(name, call.arguments)
        case "flock", "fcntl": return fileLock(name, call.arguments)
        case "pause", "rt_sigsuspend", "rt_sigtimedwait": return ObservedWait("signal", "a signal (\(name))")
        case "poll", "ppoll": return poll(name, call.arguments)
        case "select", "pselect6": return ObservedWait("poll", "one of several descriptors (\(name))")
        case _ where SystemCalls.ofDescriptors.contains(name):
            return ObservedWait(name, "\(name) of \(Descriptors.text(call.arguments[0], of: pid))")
        default: return ObservedWait(name, "system call \(name)")
        }
    }

    /// Completes what the threads of a process were found to wait for, by what is known of the others.
    func complete(_ findings: inout [Int32: Finding]) { RefusedMutex.complete(&findings, holder: holder) }

    private func holder(_ owner: UInt32, for tid: Int32) -> String {
        if owner == UInt32(bitPattern: tid) { return "this thread itself" }
        return "thread \(owner)\(TaskFacts(pid, thread: Int32(bitPattern: owner)).map { " (\($0.name))" } ?? "")"
    }

    /// The system call that goes on after its process was stopped (restart_syscall(2)), with the arguments that it had, by the
    /// library's functions that led to it.
    private static func restarted(_ functions: [String]) -> String? {
        for function in functions {
            if function.contains("nanosleep") { return "clock_nanosleep" }
            if function.contains("poll") { return "poll" }
            if function.contains("futex") || function.contains("pthread_") || function.contains("sem_") {
                return "futex"
            }
        }
        return nil
    }

    private func sleepText(_ request: UInt64, isUntil: Bool) -> String {
        guard !isUntil, let seconds: Int64 = memory?.load(request), let rest: Int64 = memory?.load(request &+ 8),
            (0..<1_000_000_000).contains(seconds), (0..<1_000_000_000).contains(rest)
        else { return "" }
        return " of \(String(time: UInt64(seconds) * 1_000_000_000 + UInt64(rest)))"
    }

    private func child(_ name: String, _ arguments: [UInt64]) -> ObservedWait {
        // wait4's first argument is a process, or nothing of the kind; waitid's second is one if the first is P_PID.
        let first = name == "waitid" ? (arguments[0] == 1 ? arguments[1] : 0) : arguments[0]
        let child = Int32(truncatingIfNeeded: first)
        guard name != "vfork", child > 0 else {
            return ObservedWait("child", name == "vfork" ? "a child to call exec (vfork)" : "the end of any child")
        }
        return ObservedWait("child", "the end of child \(child)\(TaskFacts(child).map { " (\($0.name))" } ?? "")")
    }

    private func fileLock(_ name: String, _ arguments: [UInt64]) -> ObservedWait {
        var text = "a lock of \(Descriptors.text(arguments[0], of: pid))"
        if let holder = FileLocks.holder(ofDescriptor: arguments[0], of: pid, byFlock: name == "flock") {
            text +=
                holder == pid
                ? ", which this process itself holds"
                : ", which process \(holder)\(TaskFacts(holder).map { " (\($0.name))" } ?? "") holds"
        }
        return ObservedWait("file lock", "\(text) (\(name))")
    }

    /// The descriptors that poll(2) was given, as far as they are few.
    private func poll(_ name: String, _ arguments: [UInt64]) -> ObservedWait {
        let count = arguments[1]
        guard count > 0, count <= 4 else {
            return ObservedWait(
                "poll", count == 0 ? "a time to pass (\(name))" : "one of \(count) descriptors (\(name))")
        }
        let texts = (0..<count).compactMap { index -> String? in
            let descriptor: Int32? = memory?.load(arguments[0] &+ index * 8)
            return descriptor.flatMap { $0 < 0 ? nil : Descriptors.text(UInt64($0), of: pid) }
        }
        return ObservedWait("poll", "\(texts.isEmpty ? "descriptors" : texts.joined(separator: " or ")) (\(name))")
    }
}
