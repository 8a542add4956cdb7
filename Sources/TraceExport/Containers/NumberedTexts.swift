/// Texts that are written once and then meant by their numbers.
///
/// They are told apart by their bytes, because a String counts as equal to one of other bytes.
struct NumberedTexts {
    /// The texts, by number.
    private(set) var texts: [String] = []
    private var numbers: [[UInt8]: UInt32] = [:]

    /// The number of `text`, a new one the first time. Numbers begin with 0.
    mutating func number(of text: String) -> UInt32 {
        let bytes = Array(text.utf8)
        if let known = numbers[bytes] { return known }
        let number = UInt32(texts.count)
        numbers[bytes] = number
        texts.append(text)
        return number
    }
}
