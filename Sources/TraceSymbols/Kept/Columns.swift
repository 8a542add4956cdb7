internal import TraceText

/// What a text begins with that the text before it also began with is not written again.
struct FrontCoder {
    /// The text before.
    var last: [UInt8] = []

    /// How many bytes a text has in common with the one before it, 255 at most.
    func common(with text: [UInt8]) -> Int {
        let limit = min(text.count, last.count, 255)
        var count = 0
        while count < limit, text[count] == last[count] { count += 1 }
        return count
    }
}

/// Where the lines of each file were last, because the next is near as a rule.
struct PlaceColumns {
    var file: UInt32 = 0
    var lines: [UInt32: UInt32] = [:]
}

struct ColumnWriter {
    var bytes: [UInt8] = []

    mutating func put(_ number: UInt64) { bytes.append(leb128: number) }

    /// A difference, which may be of either sign.
    mutating func put(signed difference: UInt64) { bytes.append(zigzag: Int64(bitPattern: difference)) }

    /// A text, which holds no 0.
    mutating func put(_ coder: inout FrontCoder, _ text: String) {
        let text = Array(text.utf8)
        let common = coder.common(with: text)
        bytes.append(UInt8(common))
        bytes += text[common...]
        bytes.append(0)
        coder.last = text
    }

    mutating func put(_ coder: FrontCoder, _ text: String) {
        var coder = coder
        put(&coder, text)
    }

    /// Files and lines, one column after the other. No file is the number after the last.
    mutating func putPlaces(_ places: [(file: UInt32, line: UInt32)]) {
        var last = PlaceColumns()
        for place in places {
            // `none` is -1, so that one more than each is a small number.
            put(signed: UInt64(place.file &+ 1) &- UInt64(last.file))
            last.file = place.file &+ 1
        }
        for place in places where place.file != SourceFiles.none {
            put(signed: UInt64(place.line) &- UInt64(last.lines[place.file, default: 0]))
            last.lines[place.file] = place.line
        }
    }
}

/// Reads what ``ColumnWriter`` writes; any bytes may be read.
struct ColumnReader {
    private let bytes: UnsafeRawBufferPointer
    private var numbers: LEB128Reader
    private var position: Int { numbers.offset }

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        numbers = LEB128Reader(bytes)
    }

    var isAtEnd: Bool { numbers.isAtEnd }

    mutating func number() -> UInt64? {
        let number = numbers.take()
        return numbers.hasFailed ? nil : number
    }

    mutating func signed() -> UInt64? {
        let number = numbers.takeZigzag()
        return numbers.hasFailed ? nil : UInt64(bitPattern: number)
    }

    /// A number of things of which each takes `size` bytes at least.
    mutating func count(of size: Int) -> Int? {
        guard let count = number(), count <= UInt64((bytes.count - position) / size) else { return nil }
        return Int(count)
    }

    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        let taken = numbers.take(count)
        return numbers.hasFailed ? nil : taken
    }

    /// Reads a text, which is ``FrontCoder/last`` then.
    private mutating func read(_ coder: inout FrontCoder) -> Bool {
        guard position < bytes.count, Int(bytes[position]) <= coder.last.count else { return false }
        let common = Int(bytes[position]), start = position + 1
        var end = start
        while end < bytes.count, bytes[end] != 0 { end += 1 }
        guard end < bytes.count else { return false }
        coder.last.removeLast(coder.last.count - common)
        coder.last += bytes[start..<end]
        return take(end + 1 - position) != nil
    }

    mutating func text(_ coder: inout FrontCoder) -> String? {
        read(&coder) ? String(decoding: coder.last, as: UTF8.self) : nil
    }

    /// Reads a text into `names`, which begin with a 0, with a 0 behind it.
    ///
    /// - Returns: where it begins; 0 for none.
    mutating func name(_ coder: inout FrontCoder, to names: inout [UInt8]) -> UInt32? {
        guard read(&coder), let place = UInt32(exactly: names.count) else { return nil }
        if coder.last.isEmpty { return 0 }
        names += coder.last
        names.append(0)
        return place
    }

    /// Reads what ``ColumnWriter/putPlaces(_:)`` writes.
    ///
    /// - Parameters:
    ///   - count: how many there are.
    ///   - files: how many files there are.
    mutating func places(_ count: Int, of files: Int) -> [(file: UInt32, line: UInt32)]? {
        var last = PlaceColumns()
        var places = [(file: UInt32, line: UInt32)](repeating: (0, 0), count: count)
        for index in 0..<count {
            guard let file = file(&last, of: files) else { return nil }
            places[index].file = file
        }
        for index in 0..<count {
            guard let line = line(&last, of: places[index].file) else { return nil }
            places[index].line = line
        }
        return places
    }

    private mutating func file(_ last: inout PlaceColumns, of count: Int) -> UInt32? {
        guard let step = signed() else { return nil }
        let next = UInt64(last.file) &+ step
        guard next <= UInt64(count) else { return nil }
        last.file = UInt32(next)
        return last.file &- 1
    }

    private mutating func line(_ last: inout PlaceColumns, of file: UInt32) -> UInt32? {
        if file == SourceFiles.none { return 0 }
        guard let step = signed(), let line = UInt32(exactly: UInt64(last.lines[file, default: 0]) &+ step) else {
            return nil
        }
        last.lines[file] = line
        return line
    }
}
