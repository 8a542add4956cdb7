internal import TraceFile

/// Threads of a process that formats of call paths show as one.
///
/// A thread is a group by itself. But Swift's tasks, of which there may be millions, are one, and where a process has very
/// many threads, those of one name are.
struct ThreadGroup {
    let process: TracedProcess
    fileprivate(set) var threads: [TracedThread]
    /// `worker`, or `thread 12` for one without a name.
    let name: String

    /// The kernel's thread id; nil when there are several or none.
    var tid: UInt32? { threads.count == 1 && threads[0].task == nil ? threads[0].tid : nil }

    /// A process of more threads than this has a group for each of their names.
    private static let manyThreads = 64

    static func groups(of selection: [(process: TracedProcess, threads: [TracedThread])]) -> [ThreadGroup] {
        selection.flatMap { process, threads in
            let areMany = threads.count { $0.task == nil } > manyThreads
            var groups: [ThreadGroup] = []
            var indices: [String: Int] = [:]
            for thread in threads {
                let name = thread.task == nil ? thread.name.isEmpty ? "thread \(thread.tid)" : thread.name : "tasks"
                let key = thread.task != nil ? "task" : areMany && !thread.name.isEmpty ? "name \(name)" : nil
                if let key, let known = indices[key] {
                    groups[known].threads.append(thread)
                } else {
                    if let key { indices[key] = groups.count }
                    groups.append(ThreadGroup(process: process, threads: [thread], name: name))
                }
            }
            return groups
        }
    }
}
