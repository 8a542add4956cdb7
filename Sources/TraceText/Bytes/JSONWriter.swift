/// Writes JSON (RFC 8259), and sees to commas itself.
///
/// It has no state of its own: whether a comma is due follows from the byte that was written last. So parts of a document may be
/// written anywhere, and by several of these. Nothing is kept or allocated.
public struct JSONWriter {
    public let bytes: ByteWriter
    @usableFromInline let isEmbedded: Bool

    /// - Parameter isEmbedded: whether strings may stand inside a script element and a CDATA section.
    @inlinable public init(_ bytes: ByteWriter, isEmbedded: Bool = false) {
        self.bytes = bytes
        self.isEmbedded = isEmbedded
    }

    /// Which elements of an array begin a line.
    public enum Lines { case none, each, allButFirst }

    // MARK: Commas and lines

    @inlinable @inline(__always) var isCommaDue: Bool {
        switch bytes.last {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "\n"), 0: false
        default: true
        }
    }

    /// Writes the comma between what comes next and what stands before it.
    @inlinable @inline(__always) public func separate() {
        if isCommaDue { bytes.write(byte: UInt8(ascii: ",")) }
    }

    /// Begins a line with what comes next.
    @inlinable @discardableResult
    public func line() -> JSONWriter {
        bytes.write(json: "\n", isSeparated: isCommaDue)
        return self
    }

    /// Writes what stands between elements of an array.
    @inlinable @inline(__always) public func separate(_ lines: Lines) {
        switch lines {
        case .none: separate()
        case .each: line()
        case .allButFirst: if isCommaDue { bytes.write(",\n" as StaticString) }
        }
    }

    // MARK: Values

    @inlinable @inline(__always) public func value(_ value: some JSONWritable) {
        separate()
        value.writeValue(to: self)
    }

    /// Writes a value that is JSON already.
    @inlinable public func value(raw json: String) {
        separate()
        bytes.write(json)
    }

    @inlinable public func null() { value(raw: "null") }

    @inlinable @inline(__always) public func beginObject(_ lines: Lines = .none) {
        switch lines {
        case .none: bytes.write(json: "{", isSeparated: isCommaDue)
        case .each: bytes.write(json: "\n{", isSeparated: isCommaDue)
        case .allButFirst: bytes.write(isCommaDue ? ",\n{" : "{" as StaticString)
        }
    }

    @inlinable @inline(__always) public func endObject() { bytes.write(byte: UInt8(ascii: "}")) }

    @inlinable @inline(__always) public func beginArray() { bytes.write(json: "[", isSeparated: isCommaDue) }

    @inlinable @inline(__always) public func endArray() { bytes.write(byte: UInt8(ascii: "]")) }

    @inlinable @inline(__always) public func object(_ members: () -> Void) {
        beginObject()
        members()
        endObject()
    }

    /// Writes a whole file, which ends with a line feed.
    @inlinable public func document(_ members: () -> Void) {
        beginObject()
        members()
        endDocument()
    }

    /// Ends the object that is a whole file.
    @inlinable public func endDocument() { bytes.write("}\n" as StaticString) }

    @inlinable @inline(__always) public func array(_ elements: () -> Void) {
        beginArray()
        elements()
        endArray()
    }

    /// Writes an array of what `write` writes of each element, until nobody reads on.
    @inlinable @inline(__always) public func array<Elements: Sequence>(
        _ elements: Elements, _ lines: Lines = .none, _ write: (Elements.Element) -> Void
    ) {
        beginArray()
        for element in elements where !bytes.isClosed {
            separate(lines)
            write(element)
        }
        endArray()
    }

    /// Writes an array of objects, each of the members that `members` writes.
    @inlinable @inline(__always) public func objects<Elements: Sequence>(
        _ elements: Elements, _ lines: Lines = .none, _ members: (Elements.Element) -> Void
    ) {
        beginArray()
        for element in elements where !bytes.isClosed {
            beginObject(lines)
            members(element)
            endObject()
        }
        endArray()
    }

    // MARK: Members

    /// Writes a member's name, for its value to follow.
    ///
    /// - Parameter name: at most 60 bytes, and none that JSON escapes.
    @inlinable @inline(__always) public func name(_ name: StaticString) {
        bytes.write(jsonName: name, isSeparated: isCommaDue)
    }

    /// Writes a member's name that is known only now.
    @inlinable public func name(of text: String) {
        value(text)
        bytes.write(byte: UInt8(ascii: ":"))
    }

    @inlinable @inline(__always) public func field(_ name: StaticString, _ value: some JSONWritable) {
        self.name(name)
        value.writeValue(to: self)
    }

    /// Writes a member whose value is JSON already.
    @inlinable public func field(_ name: StaticString, raw json: String) {
        self.name(name)
        bytes.write(json)
    }

    @inlinable public func field(_ name: StaticString, hexadecimal number: UInt64) {
        self.name(name)
        bytes.write(byte: UInt8(ascii: "\""))
        bytes.write(hexadecimal: number)
        bytes.write(byte: UInt8(ascii: "\""))
    }

    @inlinable @inline(__always) public func object(_ name: StaticString, _ members: () -> Void) {
        self.name(name)
        object(members)
    }

    @inlinable @inline(__always) public func array(_ name: StaticString, _ elements: () -> Void) {
        self.name(name)
        array(elements)
    }

    @inlinable @inline(__always) public func beginArray(_ name: StaticString) {
        self.name(name)
        beginArray()
    }

    @inlinable @inline(__always) public func array<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ lines: Lines = .none, _ write: (Elements.Element) -> Void
    ) {
        self.name(name)
        array(elements, lines, write)
    }

    @inlinable @inline(__always) public func objects<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ lines: Lines = .none, _ members: (Elements.Element) -> Void
    ) {
        self.name(name)
        objects(elements, lines, members)
    }

    /// Writes names and texts as one object, in their order.
    public func object(_ members: [(name: String, value: String)]) {
        object {
            for member in members {
                name(of: member.name)
                value(member.value)
            }
        }
    }

    public func object(_ name: StaticString, _ members: [(name: String, value: String)]) {
        self.name(name)
        object(members)
    }
}
