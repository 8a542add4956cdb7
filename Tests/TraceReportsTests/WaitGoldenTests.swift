import CTraceFormat
import TestSupport
import Testing
import TraceText

@testable import TraceAnalysis
@testable import TraceFile
@testable import TraceFindings
@testable import TraceReports

/// What is told of threads that wait for each other, and of a start.
@Suite struct WaitGoldenTests {
    private static let names: [UInt64: String] = [
        0x10: "main", 0x20: "pthread_mutex_lock", 0x30: "worker", 0x40: "work", 0x50: "sem_wait", 0x60: "\"load\"",
    ]
    private static let lock: UInt64 = 0x9000, semaphore: UInt64 = 0x9100

    private let session: Session
    private let resolver: FunctionResolver
    private var threads: [TracedThread] { session.processes.flatMap(\.threads) }

    /// Two threads: main waits twice for a lock that the worker has, and once for its semaphore, which the worker posts.
    init() throws {
        let directory = try TemporaryDirectory("waits")
        let writer = TraceWriter()
        var items = MetadataWriter()
        items.process(pid: 100, path: "/opt/program")
        items.module("/opt/program", low: 0, high: 0x1000, bias: 0)
        items.end(at: 100_000)
        var options = TraceWriter.ChunkOptions()
        (options.pid, options.tid, options.isMetadata) = (100, 100, true)
        writer.add(options, records: items.bytes)

        var main = RecordWriter(time: 0)
        func wait(_ function: UInt64, _ kind: UInt32, _ object: UInt64, from begin: UInt64, to end: UInt64) {
            main.enter(function, at: begin)
            main.wait(kind, for: object, ran: 0)
            main.exit(at: end)
        }
        main.enter(0x10, at: 1000)
        wait(0x20, FATHOM_WAIT_MUTEX, Self.lock, from: 2000, to: 12_000)
        main.enter(0x60, at: 13_000)
        main.exit(at: 20_000)
        wait(0x20, FATHOM_WAIT_MUTEX, Self.lock, from: 21_000, to: 30_100)
        wait(0x50, FATHOM_WAIT_SEMAPHORE, Self.semaphore, from: 31_000, to: 50_010)
        main.exit(at: 60_000)
        Self.add(main, 1, "program", to: writer)

        var worker = RecordWriter(time: 0)
        worker.enter(0x30, at: 1500)
        worker.enter(0x40, at: 3000)
        worker.wake(FATHOM_WAIT_MUTEX, for: Self.lock, at: 11_900, held: 9000)
        worker.exit(at: 14_000)
        worker.enter(0x40, at: 22_000)
        worker.wake(FATHOM_WAIT_MUTEX, for: Self.lock, at: 30_000, held: 8000)
        worker.exit(at: 32_000)
        worker.wake(FATHOM_WAIT_SEMAPHORE, for: Self.semaphore, at: 50_000)
        worker.exit(at: 55_000)
        Self.add(worker, 2, "worker", to: writer)
        try writer.write(to: directory.file("x.fathom"))
        session = try Session(path: directory.file("x.fathom"))
        resolver = FunctionResolver(FunctionTable { _, address in function(Self.names[address] ?? "?") })
    }

    private static func add(_ records: RecordWriter, _ thread: UInt32, _ name: String, to writer: TraceWriter) {
        var options = TraceWriter.ChunkOptions()
        (options.pid, options.thread, options.tid, options.name) = (100, thread, 99 + thread, name)
        (options.calls, options.end) = (records.calls, records.time)
        writer.add(options, records: records.bytes)
    }

    // MARK: How reports are made

    private var waits: NamedWaits {
        NamedWaits(
            Waits(of: threads, session: session, resolver: resolver, isAsked: { _ in true }),
            functions: resolver.functions)
    }

    private func chain(without function: String?) throws -> ChainReport {
        let waits = waits
        let chain = Chain(waits.waits, thread: 0, from: 1000, to: 60_000, firsts: [1000, 1500])
        let isExcluded = resolver.functions.matching(try function.map { [try Pattern($0)] } ?? [])
        let times = ChainTimes(of: chain, waits.waits, session: session, resolver: resolver, isAsked: isExcluded)
        return ChainReport(CriticalPath(chain, times, waits, call: nil, without: function))
    }

    // MARK: Waits

    @Test func rows() throws {
        let named = NamedWaits(waits.waits, functions: resolver.functions) { _, address in
            address == Self.lock ? "queue.lock" : nil
        }
        try expectGoldens("waits") { WaitsReport(WaitSums(named, processors: 2)).write($0, to: $1) }
        try expectGoldens("waits-longest") { WaitsReport(WaitSums(named), longest: 2).write($0, to: $1) }
    }

    @Test func nothing() throws {
        let sums = WaitSums(waits, minCost: 1_000_000_000)
        #expect(sums.rows.isEmpty)
        try expectGolden("waits-none.json") { WaitsReport(sums).write(.json, to: $0) }
    }

    @Test(arguments: [nil, "work"]) func chain(_ function: String?) throws {
        try expectGoldens(function == nil ? "chain" : "chain-without") {
            try chain(without: function).write($0, to: $1)
        }
    }

    // MARK: Starts

    private func part(_ begin: UInt64, _ end: UInt64) -> RecordedStart.Part {
        RecordedStart.Part(
            function: 0x60, begin: RecordedStart.Moment(nanoseconds: begin, minorFaults: begin / 1000),
            end: RecordedStart.Moment(nanoseconds: end, minorFaults: end / 1000))
    }

    /// - Parameter more: what the run took more than the shortest, in ns.
    private func startup(_ more: UInt64, isComplete: Bool = true) -> Startup {
        var notes = RecordedStart()
        notes.preparation = part(14_000, 14_500)
        notes.initializers = [part(14_600, 15_000 + more)]
        notes.main = part(17_200 + more, 17_300 + more)
        var moments = StartupTimeline.Moments(begin: 100)
        (moments.exec, moments.user, moments.mapped) = (1000, 1500, 3000)
        let timeline = StartupTimeline(moments, notes, origin: 10_000, end: 60_000 + more)
        let calls = StartupCalls(
            of: session.processes[0], from: timeline.begin, until: timeline.end, initializers: [], clock: session.clock,
            resolver: resolver)
        var startup = Startup(timeline: timeline, calls: calls, end: "mark 'ready'")
        startup.phases = StartupPhase.all(of: timeline, notes: notes, kernel: nil, origin: 10_000, offCPU: nil)
        startup.initializers = [
            Startup.Initializer(
                module: "/opt/program", function: "\"load\"", file: "load.c", begin: 4600, nanoseconds: 400 + more,
                minorFaults: 2, majorFaults: 1, bytesRead: 4096)
        ]
        var library = Startup.Library(path: "/opt/lib/a.so", isSystem: false, isOurs: false)
        (library.mapping, library.relocation, library.isUnused) = (900, 400, true)
        library.relocations = Startup.Relocations()
        library.relocations?.relative = 7
        startup.libraries = [library, Startup.Library(path: "/lib/libc.so.6", isSystem: true, isOurs: false)]
        startup.relocations = library.relocations
        (startup.bytesRead, startup.majorFaults) = (8192, 3)
        startup.advice = [
            StartupAdvice(.unusedLibrary("/opt/lib/a.so"), gain: 1300), StartupAdvice(.initializer(0), gain: 400),
        ]
        startup.gaps = ["the kernel was not asked"]
        if !isComplete { startup.incompleteness = "the mark 'ready' was not reached" }
        return startup
    }

    private func report(_ startups: [Startup], cold: String? = nil, plan: LaunchPlan? = nil) -> StartupReport {
        var options = StartupReport.Options()
        if let plan {
            let functions = resolver.functions
            options.plan = { run in
                LaunchReport(
                    LaunchComparison(plan, startups[run].calls, nil, width: 2) { functions[$0].name }, scopes: ["work"])
            }
        }
        let runs = startups.map { StartupReport.Run($0, functions: resolver.functions) }
        return StartupReport(runs, cold: cold, options: options)
    }

    @Test func start() throws {
        let report = report([startup(0)])
        for format in [StartupReport.Format.text, .json] {
            try expectGolden(format == .text ? "startup.txt" : "startup.json") { report.write(format, to: $0) }
        }
        try expectGolden("startup.html") { $0.write(try article(of: ByteWriter.bytes { report.write(.html, to: $0) })) }
    }

    @Test func startsBesideAPlan() throws {
        let plan = try LaunchPlan([
            LaunchPlan.Task(id: "settings", category: "io", priority: 2, expected: 9000),
            LaunchPlan.Task(id: "network", dependencies: ["settings"], thread: "worker", expected: 20_000),
            LaunchPlan.Task(id: "first \"frame\"", dependencies: ["settings"], thread: "main", expected: 5000),
        ])
        try expectGolden("launch-plan.json") { LaunchReport.write(plan, to: $0) }
        let report = report(
            [startup(0), startup(9000, isComplete: false), startup(2000)], cold: "the page cache was emptied",
            plan: plan)
        for format in [StartupReport.Format.text, .json] {
            try expectGolden(format == .text ? "startup-plan.txt" : "startup-plan.json") {
                report.write(format, to: $0)
            }
        }
    }
}
