/// Dates without Foundation.
public enum DateText {
    /// `2026-11-21 02:04:18 UTC`, from seconds since 1970.
    ///
    /// The date is Howard Hinnant's `civil_from_days` (chrono-Compatible Low-Level Date Algorithms).
    public static func utc(secondsSinceEpoch seconds: UInt64) -> String {
        let days = Int(seconds / 86400) + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let time = Int(seconds % 86400)
        return "\(year)-\(two(month))-\(two(day)) \(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) UTC"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
