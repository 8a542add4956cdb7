internal import TraceAnalysis
internal import TraceFile

/// What waits and threads are called.
extension NamedWaits {
    /// What is waited for; nil when it has no name.
    public func object(_ kind: Wait.Kind, _ object: UInt64, _ descriptor: Int16, of thread: Int) -> String? {
        switch kind {
        case .call(.semaphores): return "set \(object - 1)"
        case .call(.queue) where descriptor < 0: return object == 0 ? nil : "queue \(object - 1)"
        case .call(.descriptor), .call(.poll), .call(.fileLock), .call(.queue), .call(.inputOutput):
            return descriptor >= 0 ? "descriptor \(descriptor)" : nil
        case .call(.mutex), .call(.rwlock), .call(.condition), .call(.semaphore), .call(.barrier), .call(.futex),
            .call(.once):
            let address = "0x" + String(object, radix: 16)
            return variable(waits.threads[thread].process, object) ?? address
        case .call(.child): return object == 0 ? nil : "process \(object)"
        case .call(.thread), .call(.sleep), .call(.signal), .call(.creation), .call(.beginning), .cpu, .other:
            return nil
        }
    }

    /// What is behind a descriptor; nil when that is not known.
    public func file(_ name: UInt32, of thread: Int) -> String? { waits.threads[thread].process.names[name]?.text }

    /// What is waited for, with its kind, and what is behind it; nil when it has no name.
    public func named(
        _ kind: Wait.Kind, _ object: UInt64, _ descriptor: Int16, _ name: UInt32, of thread: Int
    ) -> String? {
        guard let object = self.object(kind, object, descriptor, of: thread) else { return nil }
        let file = file(name, of: thread).map { " (\($0))" } ?? ""
        return (object.hasPrefix(kind.name + " ") ? object : "\(kind.name) \(object)") + file
    }

    /// What a wait was for, in a sentence: its kind, and the object if that has a name.
    public func subject(_ wait: Wait) -> String {
        if let named = named(wait.kind, wait.object, wait.descriptor, wait.name, of: wait.thread) { return named }
        return switch wait.kind {
        case .cpu: "a CPU"
        case .other: "something"
        case .call(.thread), .call(.creation), .call(.beginning): "a thread"
        case .call(.sleep): "time to pass"
        case .call(.child): "a child process"
        case .call(.poll): "one of several descriptors"
        case .call(.inputOutput): "input or output"
        case .call(let kind): "a \(Wait.Kind.call(kind).name)"
        }
    }

    public func thread(_ index: Int) -> String {
        let thread = waits.threads[index]
        let name = thread.tid == thread.process.pid ? "main" : thread.name
        return "thread \(thread.tid)" + (name.isEmpty ? "" : " (\(name))")
    }

    public func path(_ path: Int32) -> [String] { waits.paths.functions(of: path).map { functions[$0].name } }
}
