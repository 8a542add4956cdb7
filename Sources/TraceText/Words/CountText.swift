/// Numbers for people.
public enum CountText {
    /// `1,234,567`
    public static func grouped(_ number: UInt64) -> String {
        let digits = String(number)
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { grouped.append(",") }
            grouped.append(digit)
        }
        return grouped
    }

    /// `1 call`, `1,234 calls`; `many` is the noun of several where it is not the noun of one and an s.
    public static func counted(_ number: UInt64, _ one: String, _ many: String? = nil) -> String {
        grouped(number) + " " + (number == 1 ? one : many ?? one + "s")
    }

    /// Bytes in a decimal unit: `1.5 MB`.
    ///
    /// - Parameter small: the unit of less than a thousand.
    public static func size(_ bytes: UInt64, unit small: String = "bytes") -> String {
        var value = Double(bytes), unit = small
        for larger in ["KB", "MB", "GB", "TB"] where value >= 1000 { (value, unit) = (value / 1000, larger) }
        if unit == small { return "\(bytes) \(small)" }
        return "\(fixed(value, 1)) \(unit)"
    }

    /// `number` with `digits` digits behind the point.
    public static func fixed(_ number: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = String(UInt64((max(number, 0) * scale).rounded()))
        if digits == 0 { return whole }
        let padded = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        return "\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }
}
