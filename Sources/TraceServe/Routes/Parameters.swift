/// Why a request cannot be answered, in one sentence.
struct BadRequest: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The parameters of a request, each of which is to be taken once: what nobody takes is refused.
struct Parameters {
    private var left: [(name: String, value: String)] = []

    static let most = 200

    /// - Parameter query: what stands behind `?`.
    init(_ query: Substring) throws(BadRequest) {
        for part in query.split(separator: "&") {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Parameters.decoded(halves[0]),
                let value = Parameters.decoded(halves.count > 1 ? halves[1] : "")
            else { throw BadRequest("The parameter \(halves[0].prefix(40)) is no text.") }
            left.append((name, value))
        }
        if left.count > Parameters.most { throw BadRequest("There are more than \(Parameters.most) parameters.") }
    }

    /// All values of a parameter, in their order.
    mutating func texts(_ name: String) -> [String] {
        let values = left.filter { $0.name == name }.map(\.value)
        left.removeAll { $0.name == name }
        return values
    }

    /// The value of a parameter; nil where it is not there.
    mutating func text(_ name: String) throws(BadRequest) -> String? {
        let values = texts(name)
        if values.count > 1 { throw BadRequest("The parameter \(name) is there \(values.count) times.") }
        return values.first
    }

    /// A whole number that has to be there.
    mutating func number<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws(BadRequest)
        -> Number
    {
        guard let text = try text(name) else { throw BadRequest("The parameter \(name) is missing.") }
        guard let number = Parameters.number(text, in: range) else {
            throw BadRequest("The parameter \(name) is no number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Throws where something was not taken.
    func end() throws(BadRequest) {
        if let other = left.first { throw BadRequest("There is no parameter '\(other.name.prefix(40))' here.") }
    }

    /// A number of digits alone; nil where it is none, or not in `range`.
    static func number<Number: FixedWidthInteger>(_ text: some StringProtocol, in range: ClosedRange<Number>) -> Number?
    {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Number(text), range.contains(number)
        else { return nil }
        return number
    }

    /// Text in which `%41` stands for a byte, and `+` for a space; nil where that is no UTF-8, or holds a NUL.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
