public import TraceFile
internal import TraceText

extension HistoryRun {
    /// What is known of the run that `session` recorded, besides its calls.
    ///
    /// - Parameter calls: how many there are.
    public init(of session: Session, calls: UInt64, total: UInt64) {
        self.init()
        let description = session.description, first = session.processes.first
        time = session.startRealtimeNanoseconds
        program = first?.programName ?? "?"
        command = description.map { CommandText.line($0.command) } ?? program
        self.session = session.path
        host = description?.host ?? ""
        cpu = description?.cpu ?? ""
        kernel = description?.kernel ?? ""
        recorder = description?.fathom ?? ""
        mode =
            switch session.content {
            case .calls, .firstCalls: .calls
            case .paths: .paths
            case .counts: .counts
            case .samples: .samples
            }
        (self.calls, self.total, lost) = (calls, total, session.lostCalls)
        // Two runs do not begin in the same nanosecond on one machine with the same process id.
        key = "\(time) \(host) \(first?.pid ?? 0) \(calls)"
    }
}

extension RunContent.Module {
    /// The files that the processes of `session` mapped, each once.
    public static func all(of session: Session) -> [RunContent.Module] {
        var seen: Set<RunContent.Module> = []
        return session.processes.flatMap(\.modules).compactMap { module in
            let found = RunContent.Module(path: module.path, buildID: module.buildID.hexadecimal)
            return seen.insert(found).inserted ? found : nil
        }
    }
}
