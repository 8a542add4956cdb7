internal import TraceFile
internal import TracePage
internal import TraceQuery
internal import TraceText

/// What the panes of a page ask of the whole time, word for word, so that a page that has all inside answers it.
struct SavedAnswers {
    let session: Session
    /// Where it is.
    let path: String
    /// Bytes of a page that one answer may take.
    let most: Int
    let progress: (Double) -> Void

    /// Functions whose durations are kept, those with the most own time.
    private static let functions = 10
    /// Calls whose chain is kept, the longest.
    private static let chains = 6

    /// Adds all answers. Those that take too much room are left out.
    func add(to content: inout FrozenContent) {
        let isOfCalls = session.content == .calls
        var questions: [[String]] = [["report"], ["info"], ["flame"]]
        questions += widths.map { ["flame", $0] }
        if isOfCalls { questions.append(["tree", "--sort", "time", "--limit", "200"]) }
        if isOfCalls, session.splitsTimes { questions.append(["waits"]) }
        var done = 0
        func note() {
            done += 1
            progress(Double(done) / Double(max(questions.count + (isOfCalls ? 2 * SavedAnswers.functions : 0), done)))
        }
        var known: [String: [UInt8]] = [:]
        for words in questions {
            let answer = ask(words, &content)
            known[words[0]] = known[words[0]] ?? answer
            note()
        }
        guard isOfCalls else { return }
        for name in SavedAnswers.longest(of: known["report"]) {
            let exactly = SavedAnswers.exactly(name)
            _ = ask(["tail", exactly], &content)
            note()
            _ = ask(
                ["tree", "--watch", exactly, "--relative-depth", "0", "--sort", "time", "--limit", "100"], &content)
            note()
        }
        guard session.splitsTimes else { return }
        for call in SavedAnswers.outermost(of: answer(["tree", "-D", "1", "--sort", "time", "--limit", "100"])) {
            _ = ask(
                ["chain", "--thread", call.thread, "--from", "\(call.begin)ns", "--to", "\(call.end)ns"], &content)
        }
    }

    /// What frames of the flame graph may be as wide as, besides all time.
    private var widths: [String] {
        var widths: [String] = []
        if session.splitsTimes { widths += ["cpu", "blocked", "runnable"].map { "--time=\($0)" } }
        if session.tellsMemory { widths += ["bytes", "live"].map { "--memory=\($0)" } }
        if session.faults != nil { widths += ["minor", "major"].map { "--faults=\($0)" } }
        return widths
    }

    /// Asks a command, and keeps what it answered.
    private func ask(_ words: [String], _ content: inout FrozenContent) -> [UInt8]? {
        guard let reply = reply(to: words) else { return nil }
        content.add(words, answer: reply.bytes, most: most)
        return reply.status == 200 ? reply.bytes : nil
    }

    private func answer(_ words: [String]) -> [UInt8]? {
        reply(to: words).flatMap { $0.status == 200 ? $0.bytes : nil }
    }

    private func reply(to words: [String]) -> Reply? {
        guard let request = try? AskRequest(words[0], Array(words.dropFirst())),
            let arguments = try? request.arguments(for: path)
        else { return nil }
        let turn = AskQueue(most: 1).enter(key: nil)
        let process = AskProcess(program: "/proc/self/exe", arguments: arguments)
        return Reply(process.run(turn, for: -1), to: request)
    }

    /// Names of the functions with the most own time.
    private static func longest(of report: [UInt8]?) -> [String] {
        let rows = parsed(report)?["answer"]?["functions"]?.elements ?? []
        let sorted = rows.sorted { $0["self_ns"]?.unsigned ?? 0 > $1["self_ns"]?.unsigned ?? 0 }
        var names: [String] = []
        for name in sorted.compactMap({ $0["name"]?.string }) where !names.contains(name) && names.count < functions {
            names.append(name)
        }
        return names
    }

    /// The longest calls that nothing calls.
    private static func outermost(of tree: [UInt8]?) -> [(thread: String, begin: UInt64, end: UInt64)] {
        var calls: [(thread: String, begin: UInt64, end: UInt64)] = []
        for thread in (parsed(tree)?["answer"]?["processes"]?.elements ?? []).flatMap({ $0["threads"]?.elements ?? [] })
        {
            let task = thread["task"]?.unsigned.map { "task \($0)" }
            guard let name = task ?? thread["tid"]?.unsigned.map({ "\($0)" }) else { continue }
            for root in thread["roots"]?.elements ?? [] {
                guard let begin = root["start_ns"]?.unsigned, let total = root["total_ns"]?.unsigned else { continue }
                calls.append((name, begin, begin + total))
            }
        }
        return Array(calls.sorted { $0.end - $0.begin > $1.end - $1.begin }.prefix(chains))
    }

    private static func parsed(_ bytes: [UInt8]?) -> JSONValue? {
        bytes?.withUnsafeBytes { bytes in
            var parser = JSONParser(bytes)
            return parser.parse()
        }
    }

    /// A name as options take it, as `durations.js` writes it: nothing in it stands for other letters.
    static func exactly(_ name: String) -> String {
        guard name.contains(where: { "*?[]\\/".contains($0) }) else { return name }
        return "/^" + name.map { ".*+?^${}()|[]\\/".contains($0) ? "\\\($0)" : String($0) }.joined() + "$/"
    }
}
