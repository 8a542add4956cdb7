internal import Glibc
public import TraceAnalysis
public import TraceFile
internal import TraceSystem

/// A session that is being recorded, looked at while its program runs: which calls are open, and what they are called.
public final class LiveSession {
    public let path: String
    public let threads: LiveThreads
    private let options: QueryOptions
    private var known: Known?
    /// When the metadata was read, in ns of CLOCK_MONOTONIC.
    private var readAt: UInt64 = 0

    /// What the program has told so far of its processes, modules and names.
    private final class Known {
        let session: Session
        /// Reads symbols when somebody asks.
        lazy var query = SessionQuery(session, options)
        private let options: QueryOptions
        var names: [Address: ResolvedFunction] = [:]

        init(_ session: Session, _ options: QueryOptions) {
            self.session = session
            self.options = options
        }
    }

    private struct Address: Hashable {
        var process: UInt32
        var function: UInt64
    }

    /// A library that is loaded is known by name that much later, at most.
    private static let patience: UInt64 = 100_000_000

    /// - Parameters:
    ///   - path: the session's directory.
    ///   - wantsMarks: see ``LiveThreads/init(of:wantsMarks:)``.
    public init(at path: String, _ options: QueryOptions = QueryOptions(), wantsMarks: Bool = false) throws(QueryError)
    {
        var options = options
        options.joinsTasks = false
        self.options = options
        self.path = path
        do throws(TraceFileError) {
            threads = try LiveThreads(of: path, wantsMarks: wantsMarks)
        } catch {
            throw .unreadable(error)
        }
    }

    /// Reads again what the program has told of itself. Do so before names are asked for that are to be right for sure.
    ///
    /// - Complexity: O(chunks of the log); no calls are read.
    public func refresh() {
        readAt = LiveSession.now
        if let session = try? Session(path: path, readsCalls: false) { known = Known(session, options) }
    }

    private static var now: UInt64 { SystemClock.monotonic }

    /// The processes that are known so far.
    public var processes: [TracedProcess] {
        if known == nil { refresh() }
        return known?.session.processes ?? []
    }

    /// Returns a process, and reads the session again when the process is new.
    public func process(_ index: UInt32) -> TracedProcess? {
        if let process = processes.first(where: { $0.index == index }) { return process }
        if isStale { refresh() }
        return known?.session.processes.first { $0.index == index }
    }

    /// Whether a process has told that it ends, or another image took its place.
    public func endedByItself(_ index: UInt32) -> Bool {
        guard let process = process(index) else { return false }
        switch process.end {
        case .exit, .exec, .confined, .saved, .detached: return true
        case .waited(let status): return status & 0x7f == 0
        case .unknown: return false
        }
    }

    /// Whether anybody still records, or makes calls that nobody fetches.
    public var isAlive: Bool {
        let recorder = threads.recorder
        if recorder > 0, processIsAlive(recorder) { return true }
        var living = LivingProcesses()
        return threads.look().contains { living.contains($0.pid) }
    }

    /// Why calls that are open may not be seen, each as a sentence without its end; empty when all are seen.
    public var blindSpots: [String] {
        if known == nil { refresh() }
        var spots: [String] = []
        if (try? LiveBuffers(of: path))?.stoppedTicks != nil {
            spots.append("recording is stopped, so no call is seen until fathom ctl starts it")
        }
        let description = known?.session.description
        let given = LiveSession.selecting.filter { description?.limits(by: $0.name) ?? false }.map(\.option)
        if !given.isEmpty {
            spots.append("calls that \(given.joined(separator: ", ")) of fathom record left out are not seen")
        }
        return spots
    }

    /// The options of `fathom record` that leave calls out, by their names in the session's description.
    private static let selecting: [(name: RecordOptions.Name, option: String)] = [
        (.maxDepth, "--max-depth"), (.filter, "-F"), (.notrace, "-N"), (.callerFilter, "-C"), (.hide, "-H"),
        (.places, "-L"),
    ]

    private var isStale: Bool { LiveSession.now - readAt > LiveSession.patience }

    /// What is to be shown of the function at an address of a process.
    public func function(at address: UInt64, of process: UInt32) -> ResolvedFunction {
        let key = Address(process: process, function: address)
        if let name = known?.names[key] { return name }
        if !isMapped(address, in: process), isStale { refresh() }
        guard let known, let owner = self.process(process) else {
            return ResolvedFunction(
                name: address == 0 ? "?" : "0x" + String(address, radix: 16), module: nil, file: nil, line: 0,
                isKnown: false)
        }
        let space = known.query.resolver.space(of: owner)
        let function = space.functions[space.function(at: address, ticks: threads.now)]
        // The name of what lies in no module may come later.
        if isMapped(address, in: process) { known.names[key] = function }
        return function
    }

    /// Whether the function at an address of a process is one that Swift runs as a part of a task.
    public func isTaskPart(at address: UInt64, of process: UInt32) -> Bool {
        if !isMapped(address, in: process), isStale { refresh() }
        guard let known, let owner = self.process(process) else { return false }
        return known.query.resolver.space(of: owner).part(at: address, ticks: threads.now).kind != .none
    }

    private func isMapped(_ address: UInt64, in process: UInt32) -> Bool {
        address == 0
            || self.process(process)?.modules.contains {
                ($0.low..<$0.high).contains(address) && $0.unloadTicks == .max
            } ?? false
    }

    /// What a process called a mark.
    public func mark(_ name: UInt32, of process: UInt32) -> String? {
        if let text = self.process(process)?.names[name]?.text { return text }
        if isStale { refresh() }
        return self.process(process)?.names[name]?.text
    }
}
