internal import TraceText

/// Values of one column in a group of rows.
struct ParquetValues {
    private(set) var plain: [UInt8] = []
    private var words: [UInt32] = []
    /// The values that are there.
    private(set) var count = 0
    /// Where a row may have no value or several: of each value, and of each row without one, whether there is a value, ...
    private var definitions: [UInt8] = []
    /// ... and, where it may have several, whether it belongs to the row before.
    private var repetitions: [UInt8] = []
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

    /// Notes whether the row has a value, in a column where it may have none.
    mutating func note(isThere: Bool) { definitions.append(isThere ? 1 : 0) }

    /// Notes how many values the row has, in a column where it may have any number.
    mutating func note(values: Int) {
        definitions.append(values > 0 ? 1 : 0)
        repetitions.append(0)
        guard values > 1 else { return }
        definitions += repeatElement(1, count: values - 1)
        repetitions += repeatElement(1, count: values - 1)
    }

    /// Values, and rows without one.
    var entries: Int { max(count, definitions.count) }

    /// The levels of all entries, as a page has them before the values: of repetition, then of definition.
    func levels(_ presence: ParquetColumn.Presence) -> [UInt8] {
        (presence == .any ? ParquetValues.levels(repetitions) : [])
            + (presence != .one ? ParquetValues.levels(definitions) : [])
    }

    private static func levels(_ values: [UInt8]) -> [UInt8] {
        let packed = packed(values.count, width: 1) { UInt64(values[$0]) }
        return withUnsafeBytes(of: UInt32(packed.count).littleEndian) { Array($0) } + packed
    }

    mutating func removeAll() {
        plain.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        definitions.removeAll(keepingCapacity: true)
        repetitions.removeAll(keepingCapacity: true)
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

    /// The words that occur, plain, and the rows as their numbers, with the number's width before them.
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
        let rows = ParquetValues.packed(words.count, width: width) { UInt64(places[Int(words[$0])]) }
        return (dictionary, used.count, [UInt8(width)] + rows)
    }

    /// Numbers in the hybrid of run lengths and packed bits: one run of packed bits, filled up to eight numbers.
    ///
    /// - Parameter value: gives a number of `width` bits at most.
    private static func packed(_ count: Int, width: Int, _ value: (Int) -> UInt64) -> [UInt8] {
        let eights = (count + 7) / 8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(eights * width + 5)
        bytes.append(leb128: UInt64(eights) << 1 | 1)
        var bits: UInt64 = 0
        var filled = 0
        for index in 0..<(8 * eights) {
            bits |= (index < count ? value(index) : 0) << UInt64(filled)
            filled += width
            while filled >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                filled -= 8
            }
        }
        return bytes
    }
}
