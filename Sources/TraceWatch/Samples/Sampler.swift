internal import CTraceFormat
internal import Glibc
internal import TraceAnalysis
public import TraceFile
internal import TraceQuery
internal import TraceSymbols
internal import TraceSystem

/// Samples the stacks of all threads of a process.
public final class Sampler: @unchecked Sendable {
    public enum Failure: Error, Equatable, CustomStringConvertible {
        case noProcess(Int32)
        case refused(Int32)

        public var description: String {
            switch self {
            case .noProcess(let pid): "there is no process \(pid)"
            case .refused(let pid):
                "process \(pid) may not be looked into: it is somebody else's, or the system's rules deny it "
                    + "(/proc/sys/kernel/yama/ptrace_scope, or a container's)"
            }
        }
    }

    private let pid: Int32
    private let source: any StackSource
    private let stopWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    /// Whether the stacks are the open calls that hooks have told of.
    public let isTraced: Bool
    /// Samples of threads that could not be looked at.
    public private(set) var missed: UInt64 = 0
    /// Whether running threads may not be stopped, so that only those were seen that waited.
    public var seesOnlyWaiting: Bool { (source as? NativeSource)?.isRefused ?? false }

    /// - Parameter usesHooks: whether the open calls are taken of a program that is being recorded.
    public init(_ pid: Int32, usesHooks: Bool = true) throws(Failure) {
        guard TaskFacts(pid).map({ !$0.hasEnded }) ?? false else { throw .noProcess(pid) }
        self.pid = pid
        if usesHooks, let path = SessionOfProcess.directory(pid), let session = try? LiveSession(at: path),
            session.threads.content.tellsOpenCalls
        {
            source = TracedSource(pid, session)
            isTraced = true
        } else {
            guard let native = NativeSource(pid) else { throw .refused(pid) }
            source = native
            isTraced = false
        }
        stopWord.initialize(to: 0)
    }

    deinit { stopWord.deallocate() }

    /// Makes ``run(every:for:)`` return soon. Any thread may call it.
    public func stop() {
        fathom_store32(stopWord, 1)
        fathom_wake32(stopWord)
    }

    /// Samples until the time is over, the process has ended, or ``stop()``.
    ///
    /// - Parameters:
    ///   - interval: between two looks, in ns. A look that takes longer delays the next.
    ///   - time: in ns.
    public func run(every interval: UInt64, for time: UInt64) -> SampledProcess {
        var result = SampledProcess(pid: pid, path: Sampler.program(pid), arguments: Sampler.arguments(pid))
        var trees: [UInt32: SampleTree] = [:], names: [UInt32: String] = [:]
        let begin = Sampler.now
        var next = begin
        while fathom_load32(stopWord) == 0, Sampler.now - begin < time {
            guard let stacks = source.look() else { break }
            result.looks += 1
            missed += UInt64(source.missed)
            for (tid, stack) in stacks where !stack.isEmpty {
                trees[tid, default: SampleTree()].add(stack)
                if names[tid] == nil { names[tid] = TaskFacts(pid, thread: Int32(bitPattern: tid))?.name ?? "" }
            }
            next += interval
            let now = Sampler.now
            if next > now { fathom_wait32(stopWord, 0, next - now) } else { next = now }
            // A library that was loaded meanwhile is known while the process is there.
            if result.looks & (result.looks - 1) == 0 { result.modules = modules(knowing: result.modules) }
        }
        result.duration = Sampler.now - begin
        result.modules = modules(knowing: result.modules)
        result.names = (source as? NativeSource)?.names ?? []
        result.threads = trees.keys.sorted().map { tid in
            var thread = SampledProcess.Thread(tid: tid, name: names[tid] ?? "")
            thread.paths = trees[tid]!.paths
            return thread
        }
        return result
    }

    private func modules(knowing known: [Module]) -> [Module] {
        let found: [Module]
        switch source {
        case let source as TracedSource: found = source.modules
        case let source as NativeSource:
            // The kernel maps some code by itself, such as the vdso, from no file: its name is no path.
            found = source.modules.filter { $0.path.hasPrefix("/") }.map {
                Module(
                    path: $0.path, buildID: $0.buildID, bias: $0.bias, low: $0.low, high: $0.high, seenTicks: 0)
            }
        default: found = []
        }
        return found + known.filter { old in !found.contains { $0.low == old.low } }
    }

    private static var now: UInt64 { SystemClock.monotonic }

    private static func program(_ pid: Int32) -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(readlink("/proc/\(pid)/exe", &path, path.count), 0)
        return String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func arguments(_ pid: Int32) -> [String] {
        (SystemFile.contents(of: "/proc/\(pid)/cmdline") ?? "").split(separator: "\0").map(String.init)
    }
}
