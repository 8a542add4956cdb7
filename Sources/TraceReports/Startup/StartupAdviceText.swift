internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceText

/// Says what is to be done about a slow start.
struct StartupAdviceText {
    private let startup: Startup
    private let names: StartupNames

    init(_ startup: Startup, functions: FunctionTable) {
        self.startup = startup
        names = StartupNames(functions: functions, threads: startup.calls.threads.map(\.tid))
    }

    /// The lines of one piece of advice: what, and below it where.
    func lines(_ advice: StartupAdvice) -> [String] {
        let gain = String(time: advice.gain)
        switch advice.kind {
        case .manyLibraries(let paths):
            return [
                "up to \(gain): \(paths.count) libraries that are not the system's, more than \(StartupAdvice.mostLibraries): merge them, or link them statically",
                "  " + paths.map { PathText.name($0) }.joined(separator: ", "),
            ]
        case .unusedLibrary(let path):
            return ["\(gain): nothing refers to \(PathText.name(path)): do not link it (-Wl,--as-needed)"]
        case .initializer(let index):
            let initializer = startup.initializers[index]
            let place = initializer.file.map { " (\(PathText.name($0)))" } ?? ""
            return [
                "\(gain): initializer \(initializer.function)\(place) of \(PathText.name(initializer.module)): do its work when it is first needed"
            ] + tree(of: index)
        case .frequent(let function, let calls):
            let name = names.functions[function].name
            let average = String(time: advice.gain / max(calls, 1))
            return [
                "up to \(gain): \(name) is called \(CountText.grouped(calls)) times, \(average) each: call it less often"
            ]
        case .repeated(let path, let calls):
            return [
                "up to \(gain): \(calls) calls by the same path, which may do the same work: keep the first one's result",
                "  \(names.path(path))",
            ]
        case .wait(let path, let waker, let thread):
            var lines = ["up to \(gain): main waits in \(names.path(path))"]
            if !waker.isEmpty, let thread {
                let threads = startup.calls.threads
                let tid = thread < threads.count ? " of thread \(threads[thread].tid)" : ""
                lines.append("  most of it was ended by \(names.path(waker))\(tid)")
            }
            return lines
        case .deferrable(let path):
            return [
                "up to \(gain): no other thread waits for \(names.path(path)): if main does not need it either before \(startup.end), it could be later, or on another thread"
            ]
        }
    }

    /// What an initializer called, longest first, two levels deep.
    private func tree(of initializer: Int) -> [String] {
        let nodes = startup.calls.nodes
        func callees(_ matches: (StartupCalls.Node) -> Bool) -> [Int] {
            nodes.indices.filter { matches(nodes[$0]) }.sorted { nodes[$0].total > nodes[$1].total }
        }
        func line(_ node: Int, _ indentation: Int) -> String {
            let calls = nodes[node].calls == 1 ? "" : " (\(CountText.grouped(nodes[node].calls)) calls)"
            let name = names.functions[nodes[node].function].name
            return String(repeating: " ", count: indentation) + "\(String(time: nodes[node].total))  \(name)\(calls)"
        }
        let roots = callees { $0.initializer == initializer }
        return roots.prefix(3).flatMap { root in
            (names.functions[nodes[root].function].name == startup.initializers[initializer].function
                ? [] : [line(root, 2)]) + callees { $0.caller == Int32(root) }.prefix(3).map { line($0, 4) }
        }
    }
}
