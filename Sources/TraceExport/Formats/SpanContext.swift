/// A span of a distributed trace, as W3C's Trace Context writes it in the header `traceparent` (https://www.w3.org/TR/trace-context/):
/// `00-TRACE-SPAN-FLAGS`, with 32, 16 and 2 hexadecimal digits. A program says that calls belong to a span by a scope of the name
/// `traceparent 00-…`.
struct SpanContext: Equatable {
    let trace: [UInt8]
    let span: [UInt8]

    /// The span that a scope is named after; nil when it is no such name.
    init?(scope name: String) {
        guard name.hasPrefix("traceparent ") else { return nil }
        let fields = name.utf8.dropFirst("traceparent ".utf8.count)
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        // Later versions may have more fields; ff is none.
        guard fields.count >= 4, let version = SpanContext.bytes(fields[0], 1), version != [255],
            version != [0] || fields.count == 4, SpanContext.bytes(fields[3], 1) != nil,
            let trace = SpanContext.bytes(fields[1], 16), let span = SpanContext.bytes(fields[2], 8),
            trace.contains(where: { $0 != 0 }), span.contains(where: { $0 != 0 })
        else { return nil }
        (self.trace, self.span) = (trace, span)
    }

    /// So many bytes, as lower-case hexadecimal digits.
    private static func bytes(_ text: Substring.UTF8View, _ count: Int) -> [UInt8]? {
        guard text.count == 2 * count else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
