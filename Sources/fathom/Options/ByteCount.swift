internal import ArgumentParser

/// A size as people write it: 512, 64K, 500M, 2G (powers of 1,024).
struct ByteCount: ExpressibleByArgument {
    var bytes: UInt64

    init(bytes: UInt64) { self.bytes = bytes }

    init?(argument: String) {
        let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        var text = Substring(argument.uppercased())
        if text.hasSuffix("B") { text.removeLast() }
        var unit: UInt64 = 1
        if let last = text.last, let known = units[last] {
            unit = known
            text.removeLast()
        }
        guard let number = UInt64(text), number > 0 else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        self.bytes = bytes
    }

    var defaultValueDescription: String { bytes % 1024 == 0 ? "\(bytes / 1024)K" : "\(bytes)" }
}
