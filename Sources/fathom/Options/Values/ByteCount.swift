/// A size as people write it: 64K, 500M, 2G (powers of 1,024), or 4096B.
struct ByteCount: CustomStringConvertible {
    var bytes: UInt64

    init(bytes: UInt64) { self.bytes = bytes }

    /// Why a text is no size.
    private struct InvalidText: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads a value of an option.
    init(argument: String) throws {
        if argument.hasPrefix("-") { throw InvalidText(description: "a size cannot be negative") }
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = UInt64(digits), number > 0 else {
            throw InvalidText(description: "a size is a whole number and a unit, as 64K, 500M or 2G")
        }
        let scale: UInt64
        switch argument.dropFirst(digits.count).uppercased() {
        case "B": scale = 1
        case "K", "KB": scale = 1 << 10
        case "M", "MB": scale = 1 << 20
        case "G", "GB": scale = 1 << 30
        case "T", "TB": scale = 1 << 40
        case "": throw InvalidText(description: "\(digits) of what? write \(digits)K, \(digits)M or \(digits)G")
        case let unit: throw InvalidText(description: "'\(unit)' is no unit of size: B, K, M, G and T are")
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: scale)
        guard !overflow else { throw InvalidText(description: "a size is less than 16777216T") }
        self.bytes = bytes
    }

    /// As help tells a default.
    var description: String {
        for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] where bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)B"
    }
}
