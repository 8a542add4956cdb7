/// What is a value in JSON.
public protocol JSONWritable {
    /// Writes nothing but the value: whoever calls this has seen to the comma before it.
    func writeValue(to json: JSONWriter)
}

extension String: JSONWritable {
    @inlinable public func writeValue(to json: JSONWriter) { json.bytes.write(json: self, isEmbedded: json.isEmbedded) }
}

/// A string of at most 60 bytes that holds nothing that JSON escapes.
extension StaticString: JSONWritable {
    @inlinable public func writeValue(to json: JSONWriter) {
        json.bytes.write(jsonText: self)
    }
}

extension Bool: JSONWritable {
    @inlinable public func writeValue(to json: JSONWriter) { json.bytes.write(self ? "true" : "false" as StaticString) }
}

extension Double: JSONWritable {
    /// Writes null for infinity and NaN, which JSON lacks.
    public func writeValue(to json: JSONWriter) { json.bytes.write(isFinite ? "\(self)" : "null") }
}

extension JSONWritable where Self: BinaryInteger {
    @inlinable public func writeValue(to json: JSONWriter) {
        if self < 0 { json.bytes.write(byte: UInt8(ascii: "-")) }
        json.bytes.write(decimal: UInt64(magnitude))
    }
}

extension Int: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension UInt8: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}

/// Null, or the value.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    @inlinable public func writeValue(to json: JSONWriter) {
        if let self { self.writeValue(to: json) } else { json.bytes.write("null" as StaticString) }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    @inlinable public func writeValue(to json: JSONWriter) { json.array(self) { $0.writeValue(to: json) } }
}
