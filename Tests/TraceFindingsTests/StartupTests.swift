import Testing

@testable import TraceAnalysis
@testable import TraceFile
@testable import TraceFindings

/// Where a start goes, from moments that are known.
@Suite struct StartupTests {
    private func part(_ begin: UInt64, _ end: UInt64, function: UInt64 = 1) -> RecordedStart.Part {
        RecordedStart.Part(
            function: function, begin: RecordedStart.Moment(nanoseconds: begin, minorFaults: begin / 10),
            end: RecordedStart.Moment(nanoseconds: end, minorFaults: end / 10))
    }

    private func notes() -> RecordedStart {
        var notes = RecordedStart()
        notes.preparation = part(1400, 1450)
        notes.initializers = [part(1460, 1500), part(1500, 1700)]
        notes.main = part(1720, 1730)
        return notes
    }

    private func moments() -> StartupTimeline.Moments {
        var moments = StartupTimeline.Moments(begin: 10)
        (moments.exec, moments.user, moments.mapped) = (100, 150, 300)
        return moments
    }

    /// Parts follow each other without gaps, whatever is known and wherever the end is.
    @Test(arguments: [0, 50, 100, 160, 460, 600, 730, 731, 5000] as [UInt64], [true, false])
    func partsAddUp(end: UInt64, hasNotes: Bool) {
        for known in 0..<8 {
            var moments = moments()
            if known & 1 != 0 { moments.exec = nil }
            if known & 2 != 0 { moments.user = nil }
            if known & 4 != 0 { moments.mapped = nil }
            let timeline = StartupTimeline(moments, hasNotes ? notes() : nil, origin: 1000, end: end)
            var cursor = timeline.begin
            for stretch in timeline.stretches {
                #expect(stretch.begin == cursor && stretch.end > stretch.begin)
                cursor = stretch.end
            }
            #expect(cursor == timeline.end && timeline.total == max(end, 10) - 10)
            let phases = StartupPhase.all(of: timeline, notes: nil, kernel: nil, origin: 1000, offCPU: nil)
            #expect(phases.reduce(0) { $0 + $1.nanoseconds } == timeline.total)
        }
    }

    @Test func everyPart() {
        let timeline = StartupTimeline(moments(), notes(), origin: 1000, end: 1000)
        #expect(
            timeline.stretches.map(\.parts) == [
                [.fork], [.kernel], [.mapping], [.relocation], [.recording], [.between], [.initializer(0)],
                [.initializer(1)], [.between], [.recording], [.main],
            ])
        #expect(timeline.main == 730)
        let phases = StartupPhase.all(of: timeline, notes: notes(), kernel: nil, origin: 1000, offCPU: nil)
        let initializers = phases.first { $0.parts == [.initializers] }
        #expect(initializers?.nanoseconds == 240 && initializers?.minorFaults == 24)
        #expect(phases.first { $0.parts == [.recording] }?.nanoseconds == 60)
        #expect(phases.last?.nanoseconds == 270)
    }

    /// What is not known apart is one phase, and called by all of its names.
    @Test func unknownMomentsJoinPhases() {
        let timeline = StartupTimeline(StartupTimeline.Moments(begin: 0), notes(), origin: 1000, end: 800)
        #expect(timeline.stretches.first?.parts == [.fork, .kernel, .mapping, .relocation])
        let blind = StartupTimeline(StartupTimeline.Moments(begin: 0), nil, origin: 0, end: 800)
        #expect(blind.stretches.map(\.parts) == [[.fork, .kernel, .mapping, .relocation, .initializers, .main]])
        #expect(blind.main == nil)
    }

    private func mapping(
        _ time: UInt64, _ address: UInt64, _ size: UInt64, _ path: String, isWritable: Bool = false
    ) -> KernelStart.Mapping {
        KernelStart.Mapping(time: time, address: address, size: size, isWritable: isWritable, path: path)
    }

    /// A loader that maps two libraries and relocates the second one first.
    private func kernel() -> KernelStart {
        var kernel = KernelStart(pid: 1, begin: 0)
        kernel.execs = [10]
        kernel.mappings = [
            mapping(11, 0x1000, 0x4000, "/bin/prog"), mapping(12, 0x4000, 0x1000, "/bin/prog", isWritable: true),
            mapping(13, 0x9000, 0x1000, "/lib/ld.so"),
            mapping(100, 0x10000, 0x4000, "/lib/a.so"), mapping(110, 0x13000, 0x1000, "/lib/a.so", isWritable: true),
            mapping(150, 0x20000, 0x4000, "/lib/b.so"), mapping(180, 0x23000, 0x1000, "/lib/b.so", isWritable: true),
            mapping(190, 0x30000, 0x1000, "//anon", isWritable: true),
            mapping(250, 0x23000, 0x1000, "/lib/b.so"), mapping(330, 0x13000, 0x1000, "/lib/a.so"),
            mapping(340, 0x4000, 0x1000, "/bin/prog"), mapping(900, 0x50000, 0x1000, "/lib/late.so"),
        ]
        kernel.faults = [20, 105, 200, 260, 500].map {
            KernelStart.Fault(time: $0, address: 0, instruction: 0, tid: 1, isMajor: $0 == 200)
        }
        return kernel
    }

    @Test func stepsOfTheLoader() {
        let steps = LoaderSteps(kernel(), from: 20, to: 400)
        #expect(steps.mapped == 190)
        #expect(steps.libraries.map(\.path) == ["/lib/a.so", "/lib/b.so"])
        #expect(steps.libraries.map(\.mapping) == [90, 70])
        #expect(steps.libraries.map(\.relocation) == [80, 60])
        let moments = StartupTimeline.Moments(kernel(), origin: 0, limit: 400)
        #expect(moments.exec == 10 && moments.user == 20 && moments.mapped == 190 && !moments.isStatic)
    }

    @Test func faultsOfPhases() {
        let timeline = StartupTimeline(
            StartupTimeline.Moments(kernel(), origin: 0, limit: 400), nil, origin: 0, end: 1000)
        let phases = StartupPhase.all(of: timeline, notes: nil, kernel: kernel(), origin: 0, offCPU: nil)
        #expect(phases.map(\.minorFaults) == [nil, 0, 2, 2])
        #expect(phases.map(\.majorFaults) == [nil, 0, 0, 1])
        #expect(phases.map(\.nanoseconds) == [10, 10, 170, 810])
    }

    @Test func percentilesAreNearestRanks() {
        let numbers = StartupRuns.Numbers((1...10).map { UInt64($0) })
        #expect(numbers.p50 == 5 && numbers.p90 == 9 && numbers.spread == 9)
        let one = StartupRuns.Numbers([7])
        #expect(one.p50 == 7 && one.p90 == 7 && one.spread == 0)
    }

    /// What the loader did for a library that only recording adds counts as recording, and the phases add up all the same.
    @Test func loadingOfOursIsRecording() {
        let steps = LoaderSteps(kernel(), from: 20, to: 400)
        #expect(
            steps.stretches.map(\.path) == [
                "/lib/a.so", "/lib/a.so", "/lib/b.so", "/lib/b.so", "/lib/b.so", "/lib/a.so", "/bin/prog",
            ])
        let ours = steps.stretches.filter { $0.path == "/lib/a.so" }.map(\.time)
        let moments = StartupTimeline.Moments(kernel(), origin: 0, limit: 400)
        func phases(_ ours: [Range<UInt64>]) -> [[StartupTimeline.Part]: UInt64] {
            let timeline = StartupTimeline(moments, nil, ours: ours, origin: 0, end: 1000)
            #expect(zip(timeline.stretches, timeline.stretches.dropFirst()).allSatisfy { $0.end == $1.begin })
            return timeline.stretches.reduce(into: [:]) { $0[$1.parts, default: 0] += $1.length }
        }
        let (plain, without) = (phases([]), phases(ours))
        #expect(plain[[.mapping]] == 170 && plain[[.recording]] == nil)
        // Mapping took 90 of the 170 ns for it. Where relocation ends is not known here, so that is not told apart.
        #expect(without[[.mapping]] == 80 && without[[.recording]] == 90, "\(without)")
        #expect(plain.values.reduce(0, +) == without.values.reduce(0, +))
    }

    /// Of several runs, an initializer's time is its median, and one that was slow once is none that is slow.
    @Test func initializersOfSeveralRuns() {
        func run(_ times: [(String, UInt64)], total: UInt64) -> Startup {
            let timeline = StartupTimeline(StartupTimeline.Moments(begin: 0), nil, origin: 0, end: total)
            let functions = FunctionTable { _, _ in
                ResolvedFunction(name: "", module: nil, file: nil, line: 0)
            }
            let calls = StartupCalls(
                of: TracedProcess(unseen: 1, path: "/bin/prog"), from: 0, until: 1, initializers: [],
                clock: Clock(monotonicFrom: 0), resolver: FunctionResolver(functions))
            var startup = Startup(timeline: timeline, calls: calls, end: "main")
            startup.initializers = times.map {
                Startup.Initializer(
                    module: "/bin/prog", function: $0.0, file: nil, begin: 0, nanoseconds: $0.1, minorFaults: 0,
                    majorFaults: 0, bytesRead: 0)
            }
            return startup
        }
        let runs = StartupRuns([
            run([("a", 5), ("b", 90), ("a", 7)], total: 100), run([("a", 6), ("b", 10), ("a", 8)], total: 101),
            run([("a", 50), ("b", 11), ("a", 1)], total: 102),
        ])
        #expect(runs.median == 1)
        #expect(runs.initializers.map(\.function) == ["a", "b", "a"])
        #expect(runs.initializers.map(\.nanoseconds) == [6, 11, 7])
    }
}
