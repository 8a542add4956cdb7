internal import Glibc
internal import TraceFile
internal import TraceSymbols

/// The stacks of any process of ours, rebuilt from unwind tables.
///
/// A thread that is blocked in a system call is looked at without being stopped, as far as that leads. One that runs is stopped
/// for some hundred microseconds. Threads in system calls that would end with EINTR then are not
/// stopped; one that enters such a call at that very moment begins it again.
final class NativeSource: StackSource {
    private let pid: Int32
    private let stacks: NativeStacks
    private var code: CodeMap
    private(set) var missed = 0
    /// Threads that were asked to stop and had not stopped when this gave up waiting for them.
    private var late: Set<Int32> = []
    private static let tries = 3
    /// Whether no thread of the process may be stopped.
    private(set) var isRefused = false

    /// Nil when the process may not be looked into.
    init?(_ pid: Int32) {
        guard let memory = ProcessMemory(pid), let stacks = NativeStacks(of: pid, load: { memory.load($0) }) else {
            return nil
        }
        self.pid = pid
        self.stacks = stacks
        code = CodeMap(of: pid)
    }

    /// The names of code that the process has made, which are found in stacks by their numbers.
    var names: [String] { code.names }

    var modules: [NativeModule] { stacks.modules }

    func look() -> [(tid: UInt32, stack: [UInt64])]? {
        guard let facts = TaskFacts(pid), !facts.hasEnded else { return nil }
        missed = 0
        late = late.filter { !StoppedThread.release($0) }
        return TaskFacts.threads(of: pid).compactMap { tid in
            guard let stack = stack(of: tid) else {
                missed += 1
                return nil
            }
            return (UInt32(bitPattern: tid), stack)
        }
    }

    private func stack(of tid: Int32) -> [UInt64]? {
        if late.contains(tid) { return nil }
        var answer = BlockedCall.of(tid, in: pid), partial: [UInt64]?
        // A thread that goes on meanwhile may be in another call by now.
        for _ in 0..<Self.tries {
            guard case .blocked(let call) = answer else { break }
            let (frames, isWhole) = stacks.frames(
                of: tid, stackPointer: call.stackPointer, programCounter: call.programCounter)
            let now = BlockedCall.of(tid, in: pid)
            if now == answer {
                if isWhole { return functions(frames, isWhole: true) }
                partial = functions(frames, isWhole: false)
                break
            }
            answer = now
        }
        if case .blocked(let call) = answer, SystemCalls.endsByStop(call, of: pid) { return partial }
        guard !isRefused, TaskFacts(pid, thread: tid).map({ !$0.isStopped && $0.state != "D" }) ?? false else {
            return partial
        }
        do throws(StoppedThread.Failure) {
            let thread = try StoppedThread(tid, in: pid)
            defer { thread.goOn() }
            let (frames, isWhole) = stacks.frames(of: tid, thread.registers)
            return functions(frames, isWhole: isWhole)
        } catch {
            if error == .refused { isRefused = true } else { late.insert(tid) }
            return partial
        }
    }

    /// The functions of frames, outermost first.
    private func functions(_ frames: [NativeFrame], isWhole: Bool) -> [UInt64] {
        let found = frames.reversed().map { frame in
            stacks.symbol(at: frame).map(\.start) ?? code.name(at: frame.lookup).map { SampledProcess.named($0) }
                ?? frame.address
        }
        return isWhole ? found : [0] + found
    }
}
