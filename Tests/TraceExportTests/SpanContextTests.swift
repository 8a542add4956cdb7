import Testing

@testable import TraceExport

@Suite struct SpanContextTests {
    private let trace = "4bf92f3577b34da6a3ce929d0e0e4736", span = "00f067aa0ba902b7"

    @Test func names() throws {
        let read = try #require(SpanContext(scope: "traceparent 00-\(trace)-\(span)-01"))
        #expect(read.trace == [75, 249, 47, 53, 119, 179, 77, 166, 163, 206, 146, 157, 14, 14, 71, 54])
        #expect(read.span == [0, 240, 103, 170, 11, 169, 2, 183])
        #expect(SpanContext(scope: "traceparent 01-\(trace)-\(span)-00-more") != nil)
    }

    @Test func others() {
        let zeros = String(repeating: "0", count: 32)
        for name in [
            "traceparent", "00-\(trace)-\(span)-01", "traceparent ff-\(trace)-\(span)-01",
            "traceparent 00-\(trace)-\(span)",
            "traceparent 00-\(trace)-\(span)-01-more", "traceparent 00-\(trace.uppercased())-\(span)-01",
            "traceparent 00-\(zeros)-\(span)-01", "traceparent 00-\(trace)-0000000000000000-01",
            "traceparent 00-\(trace)-\(span)-zz", "traceparent 00--\(span)-01",
        ] { #expect(SpanContext(scope: name) == nil, "\(name)") }
    }
}
