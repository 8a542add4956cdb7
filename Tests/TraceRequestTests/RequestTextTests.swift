import Testing
import TraceAnalysis
import TraceFile
import TraceSymbols

@testable import TraceRequest

/// What people write on the command line of functions: arguments, triggers and conditions.
@Suite struct RequestTextTests {
    @Test(
        arguments: [
            ("handle", "handle", []), ("handle:id", "handle", ["id"]),
            ("handle:request->path,*count", "handle", ["request->path", "*count"]),
            ("ns::Class::f", "ns::Class::f", []), ("ns::Class::f:x", "ns::Class::f", ["x"]),
            ("/^a:b$/", "/^a:b$/", []), ("/^a:b$/:x", "/^a:b$/", ["x"]),
        ] as [(String, String, [String])])
    func arguments(_ text: String, _ pattern: String, _ paths: [String]) throws {
        let request = try ArgumentRequest(text)
        #expect(request.pattern == pattern && request.paths.map(\.text) == paths)
    }

    @Test(arguments: [
        ("f:", "'' is no argument"), ("f:a,", "'' is no argument"), ("f:a b", "'a b' is no argument"),
        (":a", "--args takes FUNC or FUNC:name,name"),
    ])
    func badArguments(_ text: String, _ reason: String) {
        let error = #expect(throws: ArgumentRequest.Invalid.self) { try ArgumentRequest(text) }
        #expect(error?.description.hasPrefix(reason) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            ("f@start", "f", .start), ("f@stop", "f", .stop), ("f@save", "f", .save), ("f@flight", "f", .save),
            ("a@b@mark", "a@b", .mark), ("f@mark,stop", "f", [.mark, .stop]), ("f@depth=3", "f", .depth),
            ("f@min-cost=2us", "f", .minCost), ("f@trace", "f", .keep),
            ("*@libx.so@trace,depth=3", "*@libx.so", [.keep, .depth]),
            ("f@hide", "f", []),
        ] as [(String, String, FunctionRule.Trigger.Actions)])
    func triggers(_ text: String, _ pattern: String, _ actions: FunctionRule.Trigger.Actions) throws {
        let read = try TriggerText(text)
        #expect(read.pattern == pattern && read.trigger.actions == actions)
        #expect(read.trigger.levels == (actions.contains(.depth) ? 3 : 0))
        #expect(read.trigger.minCost == (actions == .minCost ? 2000 : 0))
        #expect(read.hides == (text == "f@hide"))
    }

    @Test(arguments: [
        ("f", "a trigger is FUNC@ACTION"), ("@mark", "a trigger is FUNC@ACTION"), ("f@", "'' is no action"),
        ("f@mark,", "'' is no action"), ("f@start=1", "'start=1' is no action"), ("f@depth", "'depth' is no action"),
        ("f@depth=-1", "depth= takes a number of levels"), ("f@depth=4294967296", "depth= takes a number of levels"),
    ])
    func badTriggers(_ text: String, _ reason: String) {
        let error = #expect(throws: TriggerText.Invalid.self) { try TriggerText(text) }
        #expect(error?.description.hasPrefix(reason) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            ("handle>200ms", "handle", .time(200_000_000), 0), ("handle > 1s", "handle", .time(1_000_000_000), 0),
            ("operator>>>5us", "operator>>", .time(5000), 0),
            ("handle>p99*3", "handle", .percentile(99, times: 3), 0),
            ("handle>p50", "handle", .percentile(50, times: 1), 0),
            (#"handle(path=="/slow", id>7)"#, "handle", .time(0), 2),
            (#"handle(path=="/slow")>1ms"#, "handle", .time(1_000_000), 1),
            ("f(int)(id==1)", "f(int)", .time(0), 1),
        ] as [(String, String, FlightCondition.Limit, Int)])
    func conditions(_ text: String, _ pattern: String, _ limit: FlightCondition.Limit, _ comparisons: Int) throws {
        let condition = try FlightCondition(text)
        #expect(condition.pattern == pattern && condition.limit == limit && condition.text == text)
        #expect(condition.comparisons.count == comparisons && condition.hasLimit == (limit != .time(0)))
        #expect(condition.function.matches(pattern))
    }

    @Test(arguments: [
        ("handle", "a condition is a function and a limit"), (">1s", "a condition is a function and a limit"),
        ("handle>p98", "'p98' is no limit"), ("handle>p99*0", "'p99*0' is no limit"),
        ("handle(id==1)>p99", "'p99': a condition on arguments takes a time"),
        ("/(/>1s", "'/(/' is not a regular expression"),
    ])
    func badConditions(_ text: String, _ reason: String) {
        let error = #expect(throws: (any Error).self) { try FlightCondition(text) }
        #expect(error.map { "\($0)".hasPrefix(reason) } == true, "\(String(describing: error))")
    }
}
