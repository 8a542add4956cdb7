public import Glibc

extension ByteWriter {
    /// What writes JSON by this.
    @inlinable public var json: JSONWriter { JSONWriter(self) }

    /// Writes `text` as a JSON string, quotes included (RFC 8259, section 7).
    ///
    /// - Parameter isEmbedded: whether it may stand inside a script element and a CDATA section, because it ends neither.
    public func write(json text: String, isEmbedded: Bool = false) {
        var text = text
        write(byte: UInt8(ascii: "\""))
        text.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            var written = 0
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): break
                case UInt8(ascii: "<") where isEmbedded, UInt8(ascii: ">") where isEmbedded: break
                default: continue
                }
                write(UnsafeRawBufferPointer(rebasing: bytes[written..<index]))
                write(escaped: byte)
                written = index + 1
            }
            write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
        }
        write(byte: UInt8(ascii: "\""))
    }

    private func write(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write("\\\"" as StaticString)
        case UInt8(ascii: "\\"): write("\\\\" as StaticString)
        case 0x0a: write("\\n" as StaticString)
        case 0x09: write("\\t" as StaticString)
        default:
            write("\\u00" as StaticString)
            for digit in [byte >> 4, byte & 15] {
                write(byte: digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        }
    }

    /// Writes a text as a JSON string, quotes included.
    ///
    /// - Parameter text: at most 60 bytes, and none that JSON escapes.
    @inlinable @inline(__always)
    func write(jsonText text: StaticString) {
        text.withUTF8Buffer { text in
            reserve(text.count + 2)
            let start = buffer + filled.pointee
            start[0] = UInt8(ascii: "\"")
            memcpy(start + 1, text.baseAddress!, text.count)
            start[text.count + 1] = UInt8(ascii: "\"")
            filled.pointee += text.count + 2
        }
    }

    /// Writes a name as that of a JSON member, quotes and colon included.
    ///
    /// - Parameters:
    ///   - name: at most 60 bytes, and none that JSON escapes.
    ///   - isSeparated: whether a comma is between it and what stands before it.
    @inlinable @inline(__always)
    func write(jsonName name: StaticString, isSeparated: Bool) {
        name.withUTF8Buffer { name in
            reserve(name.count + 4)
            var end = buffer + filled.pointee
            end[0] = UInt8(ascii: ",")
            end += isSeparated ? 1 : 0
            end[0] = UInt8(ascii: "\"")
            memcpy(end + 1, name.baseAddress!, name.count)
            end[name.count + 1] = UInt8(ascii: "\"")
            end[name.count + 2] = UInt8(ascii: ":")
            filled.pointee = end - buffer + name.count + 3
        }
    }

    /// Writes `text`, and a comma before it if it is separated from what stands before it.
    ///
    /// - Parameter text: at most 60 bytes.
    @inlinable @inline(__always)
    func write(json text: StaticString, isSeparated: Bool) {
        text.withUTF8Buffer { text in
            reserve(text.count + 1)
            var end = buffer + filled.pointee
            end[0] = UInt8(ascii: ",")
            end += isSeparated ? 1 : 0
            memcpy(end, text.baseAddress!, text.count)
            filled.pointee = end - buffer + text.count
        }
    }
}
