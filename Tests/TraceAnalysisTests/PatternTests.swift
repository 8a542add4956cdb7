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
        ("10", 10), ("10ns", 10), ("10us", 10_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000), ("1m", 60_000_000_000),
    ])
    func reads(_ text: String, _ nanoseconds: UInt64) { #expect(TimeSpan(text)?.nanoseconds == nanoseconds) }

    @Test(arguments: ["", "ms", "1.2.3s", "10 ms", "-1s", "10h", "1e3", "99999999999s"])
    func refuses(_ text: String) { #expect(TimeSpan(text) == nil) }
}
