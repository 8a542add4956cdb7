import Testing
import TraceAnalysis

@Suite struct PatternTests {
    @Test(arguments: [
        ("main", "main"), ("ma*", "main"), ("*in", "main"), ("m??n", "main"), ("m[a-c]in", "main"), ("m[!b]in", "main"),
        ("ns::f", "ns::f(int, char (*)(int))"), ("ns::f", "ns::f(int) const"), ("ns::*", "ns::f(int)"),
        ("(anonymous namespace)::f", "(anonymous namespace)::f(int)"), ("operator()", "operator()(int)"),
        ("/^m.*n$/", "main"), ("/ai/", "main"), ("*", ""), ("a*b*c", "aXbYbZc"), ("[", "["),
    ])
    func matches(_ pattern: String, _ name: String) throws { #expect(try Pattern(pattern).matches(name)) }

    @Test(arguments: [
        ("main", "main2"), ("ma", "main"), ("m?n", "main"), ("m[!a]in", "main"), ("/^a/", "main"), ("f", "f2(int)"),
    ])
    func differs(_ pattern: String, _ name: String) throws { #expect(try !Pattern(pattern).matches(name)) }

    @Test func badExpressionsAreRefused() {
        #expect(throws: Pattern.InvalidPattern.self) { try Pattern("/(/") }
    }
}

@Suite struct TimeSpanTests {
    @Test(arguments: [
        ("0", 0), ("0.0", 0), ("10ns", 10), ("10us", 10_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000),
        ("1m", 60_000_000_000), ("1min", 60_000_000_000),
    ])
    func reads(_ text: String, _ nanoseconds: UInt64) throws { #expect(try TimeSpan(text).nanoseconds == nanoseconds) }

    @Test(arguments: [
        ("10", "10 of what? write 10us, 10ms or 10s"),
        ("1.5", "1.5 of what? write 1.5us, 1.5ms or 1.5s"),
        ("-1s", "a time cannot be negative"), ("-1", "a time cannot be negative"),
        ("10y", "'y' is no unit of time: ns, us, ms, s, min, h and d are"),
        ("10 ms", "' ms' is no unit of time: ns, us, ms, s, min, h and d are"),
        ("1e3", "'e3' is no unit of time: ns, us, ms, s, min, h and d are"),
        ("", "a time is a number and a unit, as 10us or 1.5ms"),
        ("ms", "a time is a number and a unit, as 10us or 1.5ms"),
        ("1.2.3s", "a time is a number and a unit, as 10us or 1.5ms"),
        ("99999999999s", "a time cannot be longer than 285 years"),
    ])
    func refuses(_ text: String, _ reason: String) {
        let error = #expect(throws: TimeSpan.InvalidText.self) { try TimeSpan(text) }
        #expect(error?.description == reason)
    }
}
