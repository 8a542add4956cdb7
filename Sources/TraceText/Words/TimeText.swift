extension ByteWriter {
    /// Writes a time in the smallest unit in which it has at most four significant digits, as `1.24 us`.
    ///
    /// - Parameters:
    ///   - nanoseconds: the time.
    ///   - width: the number of columns in which the time is aligned to the right; 0 for no alignment.
    public func write(time nanoseconds: UInt64, width: Int = 0) {
        let (whole, fraction, digits, unit) = ByteWriter.split(nanoseconds)
        let wholeDigits = whole < 10 ? 1 : whole < 100 ? 2 : whole < 1000 ? 3 : String(whole).utf8.count
        write(spaces: width - wholeDigits - (digits > 0 ? digits + 1 : 0) - 1 - unit.utf8CodeUnitCount)
        write(decimal: whole)
        if digits > 0 {
            write(byte: UInt8(ascii: "."))
            if digits == 2, fraction < 10 { write(byte: UInt8(ascii: "0")) }
            write(decimal: fraction)
        }
        write(byte: UInt8(ascii: " "))
        write(unit)
    }

    /// Writes a time as users type it: exactly, in the largest unit in which it is a whole number (`100us`).
    public func write(limit nanoseconds: UInt64) {
        for (scale, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")] as [(UInt64, StaticString)]
        where nanoseconds >= scale && nanoseconds % scale == 0 {
            write(decimal: nanoseconds / scale)
            write(unit)
            return
        }
        write(decimal: nanoseconds)
        write("ns" as StaticString)
    }

    /// Returns the number before the point, the number behind the point and its digits, and the unit.
    private static func split(
        _ nanoseconds: UInt64
    ) -> (whole: UInt64, fraction: UInt64, digits: Int, unit: StaticString) {
        if nanoseconds < 1000 { return (nanoseconds, 0, 0, "ns") }
        // The limit leaves room for rounding; no call takes centuries.
        let nanoseconds = min(nanoseconds, .max / 2)
        var scale: UInt64 = 1000
        for unit in ["us", "ms", "s"] as [StaticString] {
            let hundredths = (nanoseconds &+ scale / 200) / (scale / 100)
            if hundredths < 10_000 { return (hundredths / 100, hundredths % 100, 2, unit) }
            let tenths = (nanoseconds &+ scale / 20) / (scale / 10)
            if tenths < 10_000 { return (tenths / 10, tenths % 10, 1, unit) }
            scale *= 1000
        }
        return ((nanoseconds &+ 500_000_000) / 1_000_000_000, 0, 0, "s")
    }
}

extension String {
    /// Makes a time's text, as ``ByteWriter/write(time:width:)`` writes it.
    public init(time nanoseconds: UInt64) {
        var text = ""
        let writer = ByteWriter(capacity: 64) { bytes in
            text += String(decoding: bytes, as: UTF8.self)
            return true
        }
        writer.write(time: nanoseconds)
        writer.flush()
        self = text
    }
}
