import Glibc
import TestSupport
import Testing
import TraceFile

/// Recordings that somebody steers from outside while they run.
@Suite struct CtlTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("steered.fathom") }
    /// The program ends when this file is there.
    private var end: String { directory.file("end") }
    private var truth: String { directory.file("truth") }

    init() throws { directory = try TemporaryDirectory("ctl") }

    /// Starts recording the program, and waits until `threads` threads and the main one have made a call.
    private func start(_ options: [String] = [], threads: Int = 3) throws -> BackgroundProcess {
        let binary = try Binaries.instrumented("steered.c", .gccO2)
        let process = try BackgroundProcess(
            [Fathom.executable, "record", "-q", "-o", session] + options + ["--", binary, end, "\(threads)"],
            environment: ["TRUTH": truth])
        let isThere = waitUntil {
            (try? Steering(session: session))?.status.processes.first.map { $0.threads > threads } ?? false
        }
        try #require(isThere)
        return process
    }

    private func finish(_ process: BackgroundProcess) throws {
        _ = try directory.write("", to: "end")
        #expect(process.wait() == 0)
    }

    private func ctl(_ words: String...) throws -> ProcessOutput { try Fathom.run(["ctl", session] + words) }

    /// Waits until every process has taken up the last command.
    private func awaitTaken(_ steering: Steering) throws {
        let isTaken = waitUntil { steering.status.processes.allSatisfy { $0.taken == steering.status.number } }
        try #require(isTaken, "\(steering.status)")
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// An item that the program has handled: when, in ns of CLOCK_MONOTONIC.
    private struct Item {
        var number: Int
        var begin: Int
        var end: Int
    }

    private func items() throws -> [Item] {
        try String(decoding: readFile(truth), as: UTF8.self).split(separator: "\n").map { line in
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            return Item(number: try numbers.at(0), begin: try numbers.at(1), end: try numbers.at(2))
        }
    }

    /// The numbers of the items that were recorded whole, with every call, and how many calls of `handle` there are at all.
    private func recorded() throws -> (whole: Set<Int>, handled: Int) {
        var whole: Set<Int> = [], handled = 0
        var number: Int?, shape = ""
        try Dump(session).forEach { line in
            let kind = line.kind, function = line.text(.function)
            if kind == "enter", function == "handle" {
                (number, shape) = (nil, "")
                handled += 1
            }
            if kind == "counter" { number = line.number(.value) }
            shape += kind == "enter" ? "(" : kind == "exit" ? ")" : kind == "counter" ? "." : "!"
            if kind == "exit", function == "handle", let done = number, shape == "(.()(()))" { whole.insert(done) }
        }
        return (whole, handled)
    }

    /// However often recording starts and stops: each item that was handled while it was on is there with all its calls, and
    /// none that was handled while it was off.
    @Test(arguments: [[], ["--max-depth", "9"]]) func thousandStretches(_ options: [String]) throws {
        let process = try start(["--paused"] + options)
        let steering = try Steering(session: session)
        var generator = SystemRandomNumberGenerator()
        var on: [ClosedRange<Int>] = [], off: [ClosedRange<Int>] = []
        var stopped = Self.now()
        for _ in 0..<1000 {
            usleep(UInt32.random(in: 0..<100, using: &generator))
            let before = Self.now()
            steering.run(true)
            off.append(stopped...before)
            let began = Self.now()
            usleep(UInt32.random(in: 0..<200, using: &generator))
            let ended = Self.now()
            steering.run(false)
            on.append(began...ended)
            stopped = Self.now()
        }
        try finish(process)
        let items = try items().sorted { $0.begin < $1.begin }, recorded = try recorded()
        /// Items that were handled within one of the stretches.
        func within(_ stretches: [ClosedRange<Int>]) -> [Int] {
            var next = stretches[...]
            return items.compactMap { item in
                while let first = next.first, first.upperBound < item.begin { next.removeFirst() }
                guard let stretch = next.first else { return nil }
                return stretch.contains(item.begin) && stretch.contains(item.end) ? item.number : nil
            }
        }
        let due = within(on), undue = within(off)
        #expect(due.count > 100)
        #expect(due.filter { !recorded.whole.contains($0) } == [])
        #expect(undue.filter { recorded.whole.contains($0) } == [])
        let info = try Fathom.run(["info", session]).stdout
        #expect(info.contains("damage       none"), "\(info)")
    }

    /// A program that makes no calls takes nothing up, and status says so; its next call does.
    @Test func stuckProgram() throws {
        let process = try start(threads: 0)
        #expect(try ctl("status").stdout.contains("  recording; all of 1 thread\n"))
        #expect(try ctl("stop").stderr.contains("asked 1 process, which takes it up at its next call"))
        let status = try ctl("status").stdout
        #expect(status.contains("asked      command 1, ") && status.contains(": stopped\n"), "\(status)")
        #expect(
            status.contains("recording; has not taken the command up: it has made no call since (1 thread)"),
            "\(status)")
        let json = try ctl("status", "--format", "json").stdout
        #expect(json.contains("\"asked\":{\"number\":1,") && json.contains("\"is_current\":false"), "\(json)")
        try finish(process)
        // It was stopped while main was open.
        #expect(try Fathom.run(["tree", session]).stdout.contains("main (open)"))
    }

    /// Limits hold from the next call of each thread on, and can be taken back.
    /// Limits that change, or are set to what they are, take nothing from the calls that are open meanwhile.
    @Test(arguments: ["min-cost=0", "max-depth=50", "min-cost=10us"]) func limitsKeepOpenCalls(_ limit: String) throws {
        let recorder = try start()
        let steering = try Steering(session: session), begin = Self.now()
        for _ in 0..<5 {
            #expect(try ctl("set", limit).status == 0)
            try awaitTaken(steering)
            usleep(50_000)
        }
        let time = Self.now() - begin
        try finish(recorder)
        let report = try Fathom.run(["report", "--raw", "--format", "csv", session]).stdout
        let lines = report.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let columns = try lines.at(0)
        let name = try #require(columns.firstIndex(of: "name")),
            total = try #require(columns.firstIndex(of: "total_ns"))
        let main = try #require(try lines.first { try $0.at(name) == "main" })
        #expect(try #require(Int(main.at(total))) >= time, "\(report)")
    }

    @Test func limits() throws {
        let process = try start()
        let pid = try #require(Steering(session: session).status.processes.first).pid
        #expect(try Fathom.run(["ctl", "\(pid)", "set", "max-depth=0"]).status == 0)
        let steering = try Steering(session: session)
        func awaitThreads() throws {
            let isTaken = waitUntil { steering.status.processes.allSatisfy { $0.currentThreads >= 3 } }
            try #require(isTaken, "\(steering.status)")
        }
        try awaitTaken(steering)
        try awaitThreads()
        #expect(try ctl("status").stdout.contains("recording, to depth 0; 3 of 4 threads, the other has made no call"))
        usleep(20000)
        #expect(try ctl("set", "max-depth=none", "min-cost=1s").status == 0)
        try awaitTaken(steering)
        usleep(20000)
        #expect(try ctl("set", "min-cost=0").status == 0)
        try awaitTaken(steering)
        usleep(20000)
        try finish(process)
        let counts = try Dump(session).counts()
        let (handled, leaves) = (counts["handle", default: 0], counts["leaf", default: 0])
        #expect(leaves > 100 && handled > leaves / 2 + 100, "\(counts)")
        #expect(try Fathom.run(["info", session]).stdout.contains("damage       none"))
    }

    /// Functions are named while the program runs, and others in their place, and none again.
    @Test func functions() throws {
        let process = try start()
        func filter(_ words: String...) throws {
            // Whoever steers has the buffers open, which the recorder takes for a process of the session.
            let steering = try Steering(session: session)
            #expect(try Fathom.run(["ctl", session, "filter"] + words).status == 0)
            let isTaken = waitUntil { steering.status.processes.allSatisfy { $0.currentThreads >= 3 } }
            try #require(isTaken, "\(steering.status)")
            usleep(20000)
        }
        try filter("-N", "inner")
        #expect(try ctl("status").stdout.contains(": recording, -N inner\n"))
        try filter("-F", "inner", "-H", "leaf")
        let near = try ctl("filter", "-F", "inner", "-N", "laef")
        #expect(near.status == 0 && near.stderr.contains("did you mean leaf?"), "\(near.stderr)")
        try filter()
        try finish(process)
        #expect(try !run("ls", [session]).stdout.contains("functions"))
        #expect(try Fathom.run(["info", session]).stdout.contains("damage       none"))
        // Of each item that was recorded whole: the calls that were kept.
        var shapes: [String: Int] = [:], shape = "", depths: [Int] = []
        try Dump(session).forEach { line in
            let kind = line.kind, function = line.text(.function) ?? "", depth = line.number(.depth) ?? 0
            if kind == "enter", depth == 0 { shape = "" }
            if kind == "enter" { shape += function.prefix(1) }
            if kind == "exit" { shape += "." }
            if kind == "inherited" || kind == "open" { shape += "!" }
            if kind == "exit", depth == 0 { shapes[shape, default: 0] += 1 }
            depths.append(depth)
        }
        // All of it; without inner; inner without leaf below it, and with it. Each thread may change within an item.
        let kept = ["hl.il...", "hl..", "i.", "il.."]
        for shape in kept { #expect(shapes[shape, default: 0] > 0, "\(shapes)") }
        let others = shapes.filter { !kept.contains($0.key) && !$0.key.contains("!") }
        #expect(others.values.reduce(0, +) <= 40, "\(others)")
    }

    /// Whatever is asked in whatever order, however fast, while threads call: nothing contradicts.
    @Test func allAtOnce() throws {
        let process = try start(threads: 4)
        let steering = try Steering(session: session)
        let inner = try #require(try rule(.without))
        for round in 0..<300 {
            switch round % 7 {
            case 0, 3: steering.run(round % 2 == 0)
            case 1: try steering.limit(maxDepth: round % 4, minCost: UInt64(round) * 10)
            case 2: try steering.limit(maxDepth: .some(nil), minCost: 0)
            case 4: try steering.save()
            case 5: try steering.name(all: inner.all, modules: inner.modules, text: "-N inner")
            default: try steering.name(all: FunctionRule(), modules: [], text: "")
            }
            if round % 3 == 0 { usleep(300) }
        }
        steering.run(true)
        try awaitTaken(steering)
        usleep(5000)
        try finish(process)
        let info = try Fathom.run(["info", "--check", session]).stdout
        #expect(info.contains("damage       none"), "\(info)")
        let kinds = try Dump(session).kinds()
        #expect(kinds["enter", default: 0] > 1000 && kinds["exit", default: 0] > 1000, "\(kinds)")
    }

    /// What names the function `inner`, with the modules that the session knows.
    private func rule(
        _ selection: FunctionRule.Selection
    ) throws -> (all: FunctionRule, modules: [(module: ModuleFile, functions: [NamedFunction]?)])? {
        var rule = FunctionRule()
        rule.selection = selection
        let modules = try Session(path: session).processes.flatMap(\.modules)
        let symbols = try run("nm", [Binaries.instrumented("steered.c", .gccO2)]).stdout.split(separator: "\n")
        let symbol = symbols.first { $0.hasSuffix(" inner") }
        guard let address = symbol.flatMap({ UInt64($0.prefix { $0 != " " }, radix: 16) }) else { return nil }
        let named = NamedFunction(name: "inner", addresses: [address], rule: rule)
        return (
            rule,
            modules.map { module in
                let isProgram = module.path.contains("steered")
                return (ModuleFile(path: module.path, buildID: module.buildID), isProgram ? [named] : [])
            }
        )
    }

    /// Sums are started and stopped, too; they are always of all calls, so limits are refused, and so is another mode.
    @Test(arguments: ["profile", "counts"]) func sums(_ mode: String) throws {
        let process = try start(["--mode", mode, "--paused"])
        let steering = try Steering(session: session)
        steering.run(true)
        try awaitTaken(steering)
        usleep(20000)
        #expect(try ctl("save").status == 0)
        #expect(try ctl("stop").status == 0)
        try awaitTaken(steering)
        let limited = try ctl("set", "max-depth=3")
        #expect(limited.status == 2 && limited.stderr.contains("not in --mode \(mode): it adds up all calls"))
        let named = try ctl("filter", "-F", "leaf")
        #expect(named.status == 2 && named.stderr.contains("not in --mode \(mode): it adds up all calls"))
        let other = try ctl("mode", "trace")
        #expect(other.status == 2 && other.stderr.contains("not in --mode \(mode): a session keeps its mode"))
        let report = { try Fathom.run(["report", "--raw", "--format", "json", session]).stdout }
        try #require(waitUntil { steering.status.processes.allSatisfy { $0.currentThreads >= 3 } })
        let before = try report()
        #expect(before.contains("\"handle\""))
        usleep(20000)
        #expect(try report() == before)
        try finish(process)
    }

    /// A ring is saved by its recorder, whatever the program does.
    @Test func flight() throws {
        let process = try start(["--mode", "flight", "--keep", "4M"], threads: 0)
        #expect(try ctl("save").status == 0)
        let saved = directory.file("steered-1.fathom")
        #expect(waitUntil { access(saved + "/session.json", F_OK) == 0 })
        #expect(try Fathom.run(["info", saved]).stdout.contains("saved        because fathom ctl asked for it\n"))
        try finish(process)
    }

    /// What is asked holds for programs that start later.
    @Test func laterPrograms() throws {
        let binary = try Binaries.instrumented("steered.c", .gccO2)
        let process = try BackgroundProcess([
            Fathom.executable, "record", "-q", "--force", "-o", session, "--", "sh", "-c",
            "\(binary) \(end) 1; \(binary) \(end) 1",
        ])
        try #require(waitUntil { (try? Steering(session: session))?.status.processes.first?.threads == 2 })
        #expect(try ctl("stop").status == 0)
        try finish(process)
        let tree = try Fathom.run(["tree", "--max-depth", "0", session]).stdout
        #expect(tree.contains("main (open)"))
        #expect(tree.split(separator: "\n").count { $0.contains("main") && $0.contains("(steered") } <= 1, "\(tree)")
    }

    /// A line each for what cannot be steered.
    @Test func refusals() throws {
        func refused(_ words: [String], _ status: Int32, _ text: String) throws {
            let output = try Fathom.run(["ctl"] + words)
            #expect(output.status == status && output.stderr.contains(text), "\(words): \(output.stderr)")
            #expect(status == 64 || output.stderr.split(separator: "\n").count == 1, "\(output.stderr)")
        }
        try refused([session, "stop"], 2, "No such file or directory")
        try refused(["999999999", "stop"], 2, "there is no process 999999999")
        let sleeper = try BackgroundProcess(["sleep", "60"])
        try refused(["\(sleeper.pid)", "stop"], 2, "process \(sleeper.pid) is not being recorded")
        try refused([session, "strat"], 64, "set, filter, mode and status are; did you mean start?")
        try refused([session, "stop", "-F", "leaf"], 64, "-F, -N, -C, -H and -L are for filter, not for stop")
        try refused([session, "filter", "-F", "/(/"], 64, "/(/")
        try refused([session, "set", "max-dept=3"], 64, "did you mean max-depth?")
        try refused([session, "set", "max-depth=x"], 64, "max-depth is a number from 0, or none")
        try refused([session, "set", "min-cost=3"], 64, "min-cost is a time")
        try refused([session, "stop", "now"], 64, "stop takes no setting, but is given 'now'")
        try refused([session, "mode", "profil"], 64, "did you mean profile?")
        let process = try start(threads: 0)
        let pid = try #require(Steering(session: session).status.processes.first).pid
        process.signal(SIGKILL)
        process.wait()
        // The program goes on without its recorder, and can be steered.
        #expect(try ctl("status").stdout.contains("recorder   gone; processes go on without it"))
        kill(pid, SIGKILL)
        #expect(waitUntil { (try? Steering(session: session)) == nil })
        try refused([session, "status"], 2, "its recorder and the programs that it recorded are gone")
        try refused([try recordedOnce(), "stop"], 2, "the recording is over, so nothing of it can be steered")
    }

    @Test(.enabled(if: Privilege.isRoot)) func othersCannotSteer() throws {
        let process = try start(threads: 0)
        chmod(directory.path, 0o755)
        let other = try run(
            "setpriv", ["--reuid", "65534", "--clear-groups", Fathom.executable, "ctl", session, "status"])
        let isRefused = other.stderr.contains("belongs to user root, who alone can steer it")
        #expect(other.status == 2 && isRefused, "\(other)")
        try finish(process)
    }

    private func recordedOnce() throws -> String {
        let over = directory.file("over.fathom")
        _ = try directory.write("", to: "end")
        #expect(try Fathom.record([Binaries.instrumented("steered.c", .gccO2), end, "0"], into: over).status == 0)
        return over
    }
}
