/// Where the fleet's files lie: `sample/date=2026-11-23/program=x/NAME.parquet`, as Hive has partitions.
public enum FleetFile {
    /// In the order in which they are put into their places: what is in `run` is in the others.
    public enum Table: String, CaseIterable, Sendable { case stack, sample, run }

    /// The name of the files of a whole recording.
    public static func name(session: UInt64) -> String {
        let digits = String(session, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The name of the files of an interval.
    public static func name(session: UInt64, part: Int) -> String {
        let digits = "\(part)"
        return "\(name(session: session))-\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)"
    }

    /// Whether a file has the name of one of an interval, which may be removed when it is old.
    public static func isPart(_ file: String) -> Bool {
        file.wholeMatch(of: #/[0-9a-f]{16}-[0-9]{6,}\.parquet/#) != nil
    }

    /// The directory below that of all tables.
    ///
    /// - Parameter time: ns since 1970.
    public static func partition(_ table: Table, time: UInt64, program: String) -> String {
        "\(table.rawValue)/date=\(date(of: time))/program=\(escaped(program))"
    }

    /// The day in UTC (H. Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days).
    static func date(of time: UInt64) -> String {
        let days = Int(time / 86_400_000_000_000) + 719_468
        let era = days / 146_097, dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1, month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))"
    }

    /// What is no letter, digit, `-`, `_` or `.` becomes `%` and two digits, as engines read it. No longer than file systems allow.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            guard escaped.utf8.count < 240 else { break }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default: escaped += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        // What Hive has for no text.
        return escaped.isEmpty ? "__HIVE_DEFAULT_PARTITION__" : escaped
    }
}
