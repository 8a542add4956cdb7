internal import TraceAnalysis
internal import TraceFile

/// What waits and threads are called.
struct WaitNames {
    let waits: Waits
    let functions: FunctionTable
    /// The name of the variable at an address of a process, if that is known.
    let variable: (TracedProcess, UInt64) -> String?

    func kind(_ kind: Wait.Kind) -> String {
        switch kind {
        case .cpu: "cpu"
        case .other: "other"
        case .call(let kind):
            switch kind {
            case .mutex, .rwlock: "lock"
            case .condition: "condition"
            case .semaphore: "semaphore"
            case .barrier: "barrier"
            case .thread: "thread"
            case .sleep: "sleep"
            case .descriptor: "descriptor"
            case .poll: "poll"
            case .child: "child"
            case .futex: "futex"
            }
        }
    }

    /// What is waited for; nil when it has no name.
    func object(_ kind: Wait.Kind, _ object: UInt64, _ descriptor: Int16, of thread: Int) -> String? {
        switch kind {
        case .call(.descriptor), .call(.poll): return descriptor >= 0 ? "descriptor \(descriptor)" : nil
        case .call(.mutex), .call(.rwlock), .call(.condition), .call(.semaphore), .call(.barrier), .call(.futex):
            let address = "0x" + String(object, radix: 16)
            return variable(waits.threads[thread].process, object) ?? address
        case .call(.thread), .call(.sleep), .call(.child), .cpu, .other: return nil
        }
    }

    func thread(_ index: Int) -> String {
        let thread = waits.threads[index]
        let name = thread.tid == thread.process.pid ? "main" : thread.name
        return "thread \(thread.tid)" + (name.isEmpty ? "" : " (\(name))")
    }

    func path(_ path: Int32) -> [String] { waits.paths.functions(of: path).map { functions[$0].name } }
}
