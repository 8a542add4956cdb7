/// Arguments, names of files and variables as the system has them: bytes, which are UTF-8 as a rule and need not be. A String holds
/// each byte that is none as a character of its own, from a range that Unicode leaves to private use, so that what goes in comes
/// out again. Python does the same by its `surrogateescape`; these characters are valid Unicode.
extension String {
    /// - Parameter bytes: Those of one of these characters count as bytes that are not UTF-8, so that they come out again, too.
    public init(raw bytes: some Collection<UInt8>) {
        if !bytes.contains(Self.firstOfRaw), let text = String(validating: bytes, as: UTF8.self) {
            self = text
            return
        }
        self.init()
        var rest = bytes[...]
        while let byte = rest.first {
            // Shorter stretches than a whole character are not valid.
            let character = (1...4).lazy.compactMap { count in
                rest.count < count ? nil : String(validating: rest.prefix(count), as: UTF8.self)
            }.first
            if let scalar = character?.unicodeScalars.first, scalar.rawByte == nil {
                unicodeScalars.append(scalar)
                rest = rest.dropFirst(UTF8.width(scalar))
            } else {
                unicodeScalars.append(Unicode.Scalar(raw: byte))
                rest = rest.dropFirst()
            }
        }
    }

    /// - Parameter text: ends with a zero byte.
    public init(rawCString text: UnsafePointer<CChar>) {
        var count = 0
        while text[count] != 0 { count += 1 }
        self.init(raw: UnsafeRawBufferPointer(start: text, count: count))
    }

    /// Whether some of it is no text.
    public var holdsRawBytes: Bool {
        utf8.contains(Self.firstOfRaw) && unicodeScalars.contains { $0.rawByte != nil }
    }

    public var rawBytes: [UInt8] {
        guard utf8.contains(Self.firstOfRaw) else { return Array(utf8) }
        return unicodeScalars.reduce(into: []) { bytes, scalar in
            if let byte = scalar.rawByte { bytes.append(byte) } else { bytes += UTF8.encode(scalar)! }
        }
    }

    /// The same, and a zero byte.
    public var rawCString: [CChar] { rawBytes.map { CChar(bitPattern: $0) } + [0] }

    public func withRawCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        guard utf8.contains(Self.firstOfRaw) else { return try withCString(body) }
        return try rawCString.withUnsafeBufferPointer { try body($0.baseAddress!) }
    }

    /// The first byte of each of these characters in UTF-8.
    private static let firstOfRaw: UInt8 = 0xf4
}

extension Unicode.Scalar {
    private static let raw: UInt32 = 0x10_f700

    fileprivate init(raw byte: UInt8) { self.init(Self.raw + UInt32(byte))! }

    /// The byte that this stands for.
    var rawByte: UInt8? { (Self.raw + 0x80...Self.raw + 0xff).contains(value) ? UInt8(value - Self.raw) : nil }
}
