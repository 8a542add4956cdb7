public import TraceFile
internal import TraceText

extension Session {
    /// Opens the session at `path`.
    ///
    /// - Parameter readsCalls: see ``Session/init(path:readsCalls:)``.
    public static func opened(_ path: String, readsCalls: Bool = true) throws(QueryError) -> Session {
        do throws(TraceFileError) {
            return try Session(path: path, readsCalls: readsCalls)
        } catch {
            throw .unreadable(error)
        }
    }

    /// What the recording lacks: what was found damaged so far, and what was not recorded.
    public var warnings: [String] {
        damage.entries.map(\.description) + (losses.calls > 0 ? [losses.description] : [])
            + (losses.lacksSystemCalls
                ? ["some system calls are missing, because they came faster than they were read"] : [])
            + switchWarnings + faultWarnings + unseenMemory
    }

    private var switchWarnings: [String] {
        guard let switches else { return [] }
        var warnings: [String] = []
        if switches.lost > 0 {
            warnings.append(
                "\(switches.lost) context switches were lost; some of the time without a CPU counts as running")
        }
        if switches.lostWakings > 0 {
            warnings.append(
                "\(switches.lostWakings) wakings, of this or other programs, were lost; some time in which a thread wanted a "
                    + "CPU may count as blocked, and some wakers may not be known")
        }
        if endsEarly(switches.knownUntil) {
            let time = String(time: switches.knownUntil)
            warnings.append("context switches are known until \(time); later time without a CPU counts as running")
        }
        return warnings
    }

    private var faultWarnings: [String] {
        guard let faults else { return [] }
        var warnings: [String] = []
        if faults.lost > 0 {
            warnings.append("\(faults.lost) page faults were lost, which are in no call's number")
        }
        if endsEarly(faults.knownUntil) {
            warnings.append(
                "page faults are known until \(String(time: faults.knownUntil)); later ones are not counted")
        }
        return warnings
    }

    /// Whether what the kernel told ends before the recording does. The recorder looks ten times a second, and once more at the
    /// end.
    private func endsEarly(_ knownUntil: UInt64) -> Bool {
        if isRecording { return false }
        let chunks = processes.lazy.flatMap(\.threads).flatMap(\.chunks)
        let last = clock.nanoseconds(at: chunks.map { max($0.beginTicks, $0.endTicks) }.max() ?? 0)
        return last > knownUntil &+ 500_000_000
    }

    /// Throws where a view needs each call, and only their sums were kept.
    ///
    /// - Parameter view: what shows calls, as "fathom tree shows single calls".
    public func requireCalls(for view: String) throws(QueryError) {
        if content == .calls { return }
        throw .notKept(
            session: path, content: content, view: view,
            advice: content == .firstCalls
                ? Session.firstCallAdvice
                : "report, graph and flame show these; record --mode trace keeps calls")
    }

    /// Throws where a view needs the moments of calls, of the first ones at least.
    public func requireMoments(for view: String) throws(QueryError) {
        if content != .firstCalls { try requireCalls(for: view) }
    }

    /// Throws where a view needs what all calls add up to.
    public func requireSums(for view: String) throws(QueryError) {
        if content != .firstCalls { return }
        throw .notKept(session: path, content: content, view: view, advice: Session.firstCallAdvice)
    }

    private static let firstCallAdvice =
        "order, unused and dump show these; a build with hooks and record tell of every call"

    /// Throws where a view needs times, and calls were only counted.
    public func requireTimes(for view: String) throws(QueryError) {
        if content.keepsTimes { return }
        throw .notKept(session: path, content: content, view: view, advice: "record --mode profile keeps times")
    }

    /// Whether it is known of all calls when their threads had no CPU.
    public var splitsTimes: Bool {
        processes.allSatisfy { $0.threads.allSatisfy(\.splitsTimes) }
    }

    /// Throws where a view needs to know when threads lost their CPUs, and the kernel did not tell.
    public func requireSwitches() throws(QueryError) {
        if switches != nil { return }
        throw .notSplit(session: path, refusal: description?.waitSources?.refusal)
    }

    /// Throws where a view shows waits, and none were recorded.
    public func requireWaits() throws(QueryError) {
        if let sources = description?.waitSources {
            if sources.tellsCauses { return }
            throw .noCauses(session: path)
        }
        if switches != nil { return }
        let isSummed = description?.option(.blocked) == "true"
        throw .notSplit(
            session: path,
            refusal: isSummed ? "it has the sums of calls that wait, and no single wait; fathom report shows them" : nil
        )
    }

    /// The programs whose memory was to be recorded and could not be.
    public var unseenMemory: [String] {
        var named: Set<String> = []
        return processes.filter { $0.hidesMemory && named.insert($0.path).inserted }.map {
            "\($0.programName) allocates memory by functions of its own, which are not recorded"
        }
    }

    /// Throws where a view shows memory, and that was not recorded.
    public func requireMemory() throws(QueryError) {
        if tellsMemory { return }
        throw .noMemory(session: path)
    }

    /// Throws where a view shows page faults, and the kernel did not tell of them.
    public func requireFaults() throws(QueryError) {
        if faults != nil { return }
        throw .noFaults(session: path, refusal: description?.faultSource?.refusal)
    }

    /// Throws where a view needs to know when threads had no CPU, and that is not known.
    public func requireSplitTimes() throws(QueryError) {
        if splitsTimes { return }
        throw .notSplit(session: path, refusal: description?.waitSources?.refusal)
    }

    public var hasCalls: Bool { processes.contains { $0.threads.contains { $0.countCalls() > 0 } } }
}
