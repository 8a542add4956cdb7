internal import CTraceFormat

extension UnsafeRawBufferPointer {
    /// Whether the last member of a `session.json`, `,\n  "sum": "16 digits"\n}\n`, is the sum of all before it.
    var endsWithSum: Bool {
        let (start, end) = (Array(",\n  \"sum\": \"".utf8), Array("\"\n}\n".utf8))
        let summed = count - start.count - 16 - end.count
        guard summed > 0, self[summed...].starts(with: start), suffix(end.count).elementsEqual(end) else {
            return false
        }
        let digits = String(decoding: self[(summed + start.count)...].prefix(16), as: UTF8.self)
        return UInt64(digits, radix: 16) == fathom_hash(baseAddress, summed)
    }
}
