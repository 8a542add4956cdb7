import TestSupport
import Testing
import TraceText

@testable import TraceAnalysis
@testable import TraceFile
@testable import TraceFindings
@testable import TraceReports

/// What is told of builds and of running recordings, each of facts that are made by hand.
@Suite struct AdviceGoldenTests {
    private var defined: [DefinedFunction] {
        func function(
            _ name: String, _ file: String?, _ line: Int, _ bytes: UInt64, runs: Int = 0,
            _ change: (inout DefinedFunction) -> Void = { _ in }
        ) -> DefinedFunction {
            var function = DefinedFunction(
                name: name, linkageName: "_Z\(name)", module: "/opt/program", file: file, line: line, bytes: bytes,
                lineCount: Int(bytes / 8))
            (function.runs, function.possibleRuns) = (runs, 3)
            change(&function)
            return function
        }
        return [
            function("main", "src/main.c", 10, 160, runs: 3),
            function("parse(int, \"x\")", "src/parse.cpp", 20, 400) { $0.isInlined = true },
            function("dump", "src/debug/dump.c", 5, 96) { $0.hiddenCallers = ["a table", "other modules"] },
            function("rare", nil, 0, 48, runs: 1) { $0.isUnreachable = true },
        ]
    }

    @Test func unused() throws {
        for group in UnusedFunctions.Group.allCases {
            var options = UnusedReport.Options()
            options.group = group
            let report = UnusedReport(
                UnusedFunctions(defined, unknown: 2, runs: 3, calledByFewerThan: 2), options: options)
            if group == .function {
                try expectGoldens("unused") { report.write($0, to: $1) }
                try expectGolden("unused-list.txt") {
                    report.writeList(to: $0, pattern: { $0 == "rare" ? nil : $0 }, leavesOut: { $0 == "dump" })
                }
            } else {
                try expectGolden("unused-\(group.rawValue).txt") { report.write(.text, to: $0) }
            }
        }
    }

    @Test func hooks() throws {
        let modules = [
            HooksReport.Module(
                path: "/opt/program", functions: [("main", true), ("odd\nname", false)], includesLibraries: false),
            HooksReport.Module(path: "/opt/lib.so", functions: [], includesLibraries: true),
        ]
        try expectGolden("hooks.txt") { HooksReport(modules).write(.text, to: $0) }
        try expectGolden("hooks.json") { HooksReport(modules).write(.json, to: $0) }
    }

    @Test(arguments: [1, 4]) func order(runs: Int) throws {
        let ranges = (0..<40 as Range<UInt64>).map { $0 * 3000..<$0 * 3000 + 2500 }
        let order = FunctionOrder(ranges, runs: (0..<runs).map { run in (0..<12).map { (37 * $0 + run) % 40 } })
        let facts = OrderReport.Facts(
            path: "/opt/program", names: order.functions.prefix(5).map { "function \($0)" }, bytes: 30_000, runs: runs,
            missing: 2, startPages: StartPages(order.functions.prefix(5).map { ranges[$0] }, code: 0..<120_000))
        let report = OrderReport(order, facts, showsStartPages: true)
        try expectGoldens("order-\(runs)") { report.write($0, to: $1) }
    }

    @Test func verify() throws {
        func starts(_ pages: Double, _ time: Double?) -> [StartComparison.Start] {
            (0..<10).map { number in
                let more = Double(number % 3)
                return StartComparison.Start(
                    isCold: number % 2 == 0, majorFaults: pages / 10, minorFaults: pages + more,
                    residentPages: pages * 2 + more, nanoseconds: time.map { $0 + more * 1000 })
            }
        }
        let comparison = StartComparison(old: starts(400, 5_000_000), new: starts(300, 4_000_000))
        for (name, reason) in [("verify", nil), ("verify-warm", "it needs root")] {
            let report = VerifyReport(
                comparison, VerifyReport.Facts(old: "a/prog", new: "b/prog", runs: 10, notCold: reason))
            try expectGoldens(name) { report.write($0, to: $1) }
        }
    }

    @Test func steering() throws {
        let wish = SteeringStatus.Wish(records: true, maxDepth: 3, minCost: 2000)
        func process(
            _ pid: Int32, _ does: SteeringStatus.Wish?, taken: UInt32, _ current: Int, lacks: Bool = false
        ) -> SteeringStatus.Process {
            SteeringStatus.Process(
                pid: pid, does: does, taken: taken, threads: 3, currentThreads: current, lacksFunctions: lacks)
        }
        var status = SteeringStatus(
            session: "/tmp/x.fathom", mode: .trace, recorder: 77, number: 4,
            askedNanoseconds: 1_709_210_096_000_000_000,
            asked: wish, functions: "-F parse",
            processes: [
                process(100, wish, taken: 4, 3), process(101, wish, taken: 4, 1), process(102, nil, taken: 2, 0),
                process(103, SteeringStatus.Wish(records: false, maxDepth: nil, minCost: 0), taken: 3, 0),
                process(104, wish, taken: 4, 2, lacks: true),
            ], isFull: true)
        for name in ["steering", "steering-gone"] {
            try expectGolden("\(name).txt") { SteeringReport(status).write(.text, to: $0) }
            try expectGolden("\(name).json") { SteeringReport(status).write(.json, to: $0) }
            (status.recorder, status.functions, status.number, status.processes) = (nil, nil, 0, [])
            status.asked.maxDepth = -1
        }
    }

    private var hangs: [Hang] {
        Hang.Kind.allCases.map { kind in
            var hang = Hang(
                kind: kind, program: "server", pid: 100, thread: 101, threadName: "worker",
                startRealtime: 1_709_210_096_000_000_000, duration: 2_500_000_000)
            let path = [
                HangFrame(name: "main", nanoseconds: 9_000_000_000), HangFrame(name: "lock", nanoseconds: 2_000),
            ]
            hang.path = path
            (hang.cpuPercent, hang.threadCount, hang.memory) = (12.34, 2, 3 << 20)
            hang.hasEnded = kind == .hang
            var holder = Hang.Thread(tid: 102, name: "")
            (holder.path, holder.libraryCalls, holder.cpuPercent) = ([path[0]], ["read", "\"odd\""], 99.96)
            var waiter = Hang.Thread(tid: 101, name: "worker")
            (waiter.path, waiter.owner, waiter.wait, waiter.waitsFor) = (path, 102, "mutex", "a mutex that 102 holds")
            hang.threads = [holder, waiter]
            if kind == .deadlock { hang.circle = [101, 102] }
            if kind == .cpu {
                hang.repeated = RepeatedStack(frames: [.init(name: "main", count: 7)], count: 5, samples: 8)
                hang.laterPaths = [Hang.LaterPath(duration: 5_000_000_000, path: [path[0]])]
            }
            return hang
        }
    }

    @Test func everyKindOfHang() throws {
        try expectGolden("hangs.txt") { writer in hangs.forEach { HangText(writer).write($0) } }
        try expectGolden("hangs.json") { writer in hangs.forEach { HangJSON(writer).write($0) } }
    }

    /// What lists say is read from what was written of each.
    @Test func listOfHangs() throws {
        let summaries = (hangs + hangs.suffix(2)).compactMap { hang in
            HangSummary(json: String(decoding: ByteWriter.bytes { HangJSON($0).write(hang) }, as: UTF8.self))
        }
        #expect(summaries.count == hangs.count + 2)
        let list = HangList(summaries)
        try expectGolden("hang-list.txt") { list.write(.text, to: $0) }
        try expectGolden("hang-list.json") { list.write(.json, to: $0) }
    }

    @Test(arguments: [nil, 25] as [Double?]) func tune(cost: Double?) throws {
        let session = try madeSession { records in
            records.enter(0x10, at: 0)
            for call in 0..<400 as Range<UInt64> {
                records.enter(call % 4 == 0 ? 0x30 : 0x20, at: 100 * call)
                records.exit(at: 100 * call + 30)
            }
            records.enter(0x40, at: 40_000)
            records.exit(at: 900_000)
            records.exit(at: 1_000_000)
        }
        let tree = madeTree(of: session, cost.map { TracingCost(perCall: $0) }) { address in
            function([0x10: "main", 0x20: "get", 0x30: "get_next", 0x40: "parse"][address]!, file: "a.cpp")
        }
        let language = HookTuning.Language(pattern: { $0.name }, leavesOut: { $1.contains($0) })
        let report = TuneReport(
            HookTuning(tree, limits: HookTuning.Limits(), language: language), session: "x.fathom", bytes: 10_000,
            measured: cost.map { TracingCost(perCall: $0) })
        try expectGoldens(cost == nil ? "tune" : "tune-corrected") { report.write($0, to: $1) }
    }
}
