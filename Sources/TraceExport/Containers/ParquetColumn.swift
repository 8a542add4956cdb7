/// A column of a Parquet file: its name and what its values are.
struct ParquetColumn {
    enum Kind {
        case integer
        /// Text that is seldom the same in two rows.
        case text
        /// Text out of few: the words come first, and rows have their numbers.
        case word

        /// Physical type.
        var type: Int32 { self == .integer ? 2 : 6 }
    }

    let name: String
    let kind: Kind

    static func integer(_ name: String) -> ParquetColumn { ParquetColumn(name: name, kind: .integer) }
    static func text(_ name: String) -> ParquetColumn { ParquetColumn(name: name, kind: .text) }
    static func word(_ name: String) -> ParquetColumn { ParquetColumn(name: name, kind: .word) }
}

/// Values of one column in a group of rows.
struct ParquetValues {
    private(set) var plain: [UInt8] = []
    private var words: [UInt32] = []
    private(set) var count = 0
    /// The least and the greatest of the integers or texts, encoded.
    private var integers: (least: Int64, greatest: Int64)?
    private var texts: (least: [UInt8], greatest: [UInt8])?

    mutating func add(_ value: Int64) {
        withUnsafeBytes(of: value.littleEndian) { plain.append(contentsOf: $0) }
        integers = integers.map { (min($0.least, value), max($0.greatest, value)) } ?? (value, value)
        count += 1
    }

    mutating func add(text: [UInt8]) {
        ParquetValues.append(text, to: &plain)
        compare(text)
        count += 1
    }

    mutating func add(word: UInt32) {
        words.append(word)
        count += 1
    }

    mutating func removeAll() {
        plain.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        (count, integers, texts) = (0, nil, nil)
    }

    /// Longer texts have no bounds: those would make the end of the file, which readers begin with, large.
    private static let longestBound = 200

    /// The least and the greatest value as the format's statistics have them; nil where they are not told.
    var bounds: (least: [UInt8], greatest: [UInt8])? {
        if let integers { return (Self.bytes(of: integers.least), Self.bytes(of: integers.greatest)) }
        guard let texts, max(texts.least.count, texts.greatest.count) <= Self.longestBound else { return nil }
        return texts
    }

    private static func bytes(of value: Int64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    private mutating func compare(_ text: [UInt8]) {
        guard let known = texts else { return texts = (text, text) }
        if text.lexicographicallyPrecedes(known.least) { texts!.least = text }
        if known.greatest.lexicographicallyPrecedes(text) { texts!.greatest = text }
    }

    private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(text.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes += text
    }

    /// The words that occur, plain, and the rows as their numbers in the hybrid of run lengths and packed bits: one run of bits
    /// for each eight rows, with the number's width before them.
    ///
    /// - Complexity: O(rows + all words).
    mutating func encodeWords(_ all: NumberedTexts) -> (words: [UInt8], count: Int, rows: [UInt8]) {
        var places = [UInt32](repeating: .max, count: all.texts.count)
        var used: [UInt32] = []
        var dictionary: [UInt8] = []
        for word in words where places[Int(word)] == .max {
            places[Int(word)] = UInt32(used.count)
            used.append(word)
            let text = Array(all.texts[Int(word)].utf8)
            ParquetValues.append(text, to: &dictionary)
            compare(text)
        }
        let width = used.count > 1 ? 32 - UInt32(used.count - 1).leadingZeroBitCount : 0
        var rows: [UInt8] = [UInt8(width)]
        let eights = (words.count + 7) / 8
        var header = UInt64(eights) << 1 | 1
        while header >= 0x80 {
            rows.append(UInt8(truncatingIfNeeded: header) | 0x80)
            header >>= 7
        }
        rows.append(UInt8(header))
        var bits: UInt64 = 0
        var filled = 0
        for index in 0..<(8 * eights) {
            let place = index < words.count ? UInt64(places[Int(words[index])]) : 0
            bits |= place << UInt64(filled)
            filled += width
            while filled >= 8 {
                rows.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                filled -= 8
            }
        }
        return (dictionary, used.count, rows)
    }
}
