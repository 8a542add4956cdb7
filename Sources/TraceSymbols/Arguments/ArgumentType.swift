internal import CElfutils
internal import Glibc

/// What DWARF says of the types of things, and where their parts are.
struct ArgumentType {
    /// Without names for other types and qualifiers.
    let die: Dwarf_Die
    private let tag: Int

    /// The type of a thing, a member or another type; nil when it has none, as `void` has.
    init?(of thing: Dwarf_Die) {
        var (thing, attribute, type, peeled) = (thing, Dwarf_Attribute(), Dwarf_Die(), Dwarf_Die())
        guard dwarf_attr_integrate(&thing, UInt32(DW_AT_type), &attribute) != nil,
            dwarf_formref_die(&attribute, &type) != nil, dwarf_peel_type(&type, &peeled) == 0
        else { return nil }
        self.init(die: peeled)
    }

    private init(die: Dwarf_Die) {
        var die = Self.definition(of: die)
        tag = Int(dwarf_tag(&die))
        self.die = die
    }

    /// A class may be described in a unit of types.
    private static func definition(of die: Dwarf_Die) -> Dwarf_Die {
        var (die, attribute, other) = (die, Dwarf_Attribute(), Dwarf_Die())
        guard dwarf_attr(&die, UInt32(DW_AT_signature), &attribute) != nil,
            dwarf_formref_die(&attribute, &other) != nil
        else { return die }
        return other
    }

    var name: String? {
        var die = die
        return dwarf_diename(&die).map { String(cString: $0) }
    }

    /// In bytes; 0 when that is not known.
    var size: Int {
        var die = die
        var size = Dwarf_Word(0)
        if dwarf_aggregate_size(&die, &size) == 0 { return Int(clamping: size) }
        return isPointer || isReference ? 8 : 0
    }

    /// Without what only fills it up.
    var usedSize: Int { size == 16 && tag == DW_TAG_base_type && name == "long double" ? 10 : size }

    var isPointer: Bool { tag == DW_TAG_pointer_type || tag == DW_TAG_unspecified_type }
    var isNull: Bool { tag == DW_TAG_unspecified_type }
    var isReference: Bool { tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type }
    var isClass: Bool {
        tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type
    }

    /// Whether its members lie beside each other, and DWARF has them.
    private var isStructure: Bool { tag == DW_TAG_structure_type || tag == DW_TAG_class_type }

    var isBase: Bool { tag == DW_TAG_base_type }
    var isTruth: Bool { isBase && encoding == DW_ATE_boolean }
    var isEnumeration: Bool { tag == DW_TAG_enumeration_type }
    var isMemberPointer: Bool { tag == DW_TAG_ptr_to_member_type }

    /// What an array that is no vector consists of; nil for other types.
    var elements: (type: ArgumentType, count: Int)? {
        var (die, attribute) = (die, Dwarf_Attribute())
        guard tag == DW_TAG_array_type, dwarf_attr(&die, UInt32(DW_AT_GNU_vector), &attribute) == nil,
            let element = ArgumentType(of: die)
        else { return nil }
        return (element, element.size > 0 ? size / element.size : 0)
    }

    var encoding: Int {
        var (die, attribute, value) = (die, Dwarf_Attribute(), Dwarf_Word(0))
        guard dwarf_attr(&die, UInt32(DW_AT_encoding), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0
        else { return 0 }
        return Int(clamping: value)
    }

    /// Bytes that may be text: `char`, with or without a sign, and `char8_t`.
    private var isChar: Bool {
        guard tag == DW_TAG_base_type, size == 1 else { return false }
        return [DW_ATE_signed_char, DW_ATE_unsigned_char, DW_ATE_UTF].contains(encoding)
    }

    /// Whether a pointer is one to characters of 2 or 4 bytes. In C, these are numbers that have another name.
    private var pointsToWideCharacters: Bool {
        guard isPointer, let target = ArgumentType(of: die), target.isBase, target.size == 2 || target.size == 4 else {
            return false
        }
        if target.encoding == DW_ATE_UTF || target.name == "wchar_t" { return true }
        var (die, attribute, next) = (die, Dwarf_Attribute(), Dwarf_Die())
        for _ in 0..<8 {
            guard dwarf_attr(&die, UInt32(DW_AT_type), &attribute) != nil, dwarf_formref_die(&attribute, &next) != nil
            else {
                return false
            }
            if let name = dwarf_diename(&next), ["wchar_t", "char16_t", "char32_t"].contains(String(cString: name)) {
                return true
            }
            die = next
        }
        return false
    }

    /// Whether it is shown as the text that it points to.
    var isText: Bool {
        isPointer && ArgumentType(of: die)?.isChar == true || pointsToWideCharacters
    }

    // MARK: Values

    /// How a thing of this type at `location` is recorded, and what it is.
    func value(at location: ArgumentLocation) -> (kind: ArgumentKind, steps: [ArgumentStep]) {
        if isReference {
            guard let target = ArgumentType(of: die), let word = location.word() else { return (.optimizedOut, []) }
            return target.value(at: .memory(word))
        }
        if isClass { return text(at: location) ?? swift(at: location) ?? (.aggregate, []) }
        if isText, let target = ArgumentType(of: die) {
            guard let word = location.word() else { return (.optimizedOut, []) }
            return target.isChar
                ? (.text, word + [.giveString])
                : (.wideText(UInt8(target.size)), word + [.giveWide(size: UInt8(target.size))])
        }
        if let elements, elements.type.isChar, let size = UInt16(exactly: elements.count), size > 0 {
            switch location {
            case .memory(let steps): return (.text, steps + [.giveCharacters(size: size)])
            case .gone: return (.optimizedOut, [])
            case .value, .bytes, .pieces: return (.aggregate, [])
            }
        }
        if tag == DW_TAG_unspecified_type { return (.pointer(8), [.constant(0), .giveValue(size: 8)]) }
        guard let kind else { return (.aggregate, []) }
        // Of 16 bytes, the x87's numbers take 10.
        if usedSize == 10 { return scalar(.floating(10), at: location, 10) }
        return scalar(kind, at: location, size)
    }

    private func scalar(_ kind: ArgumentKind, at location: ArgumentLocation, _ size: Int)
        -> (kind: ArgumentKind, steps: [ArgumentStep])
    {
        switch location.part(at: 0, size: size) {
        case .memory(let steps): return (kind, steps + [.giveMemory(size: UInt8(size))])
        case .value(let steps) where size <= 8: return (kind, steps + [.giveValue(size: UInt8(size))])
        case .bytes(let bytes) where size <= 8:
            let word = bytes.prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
            return (kind, [.constant(word), .giveValue(size: UInt8(size))])
        default: return (.optimizedOut, [])
        }
    }

    private var kind: ArgumentKind? {
        let size = size, bytes = UInt8(clamping: size)
        guard (1...16).contains(size) else { return nil }
        switch tag {
        case DW_TAG_pointer_type, DW_TAG_ptr_to_member_type: return .pointer(bytes)
        case DW_TAG_enumeration_type: return enumeration(bytes)
        case DW_TAG_base_type: break
        default: return nil
        }
        switch encoding {
        case DW_ATE_boolean: return .bool(bytes)
        case DW_ATE_float: return .floating(bytes)
        case DW_ATE_UTF: return .character(bytes)
        case DW_ATE_signed: return name == "wchar_t" ? .character(bytes) : .signed(bytes)
        case DW_ATE_unsigned: return .unsigned(bytes)
        case DW_ATE_signed_char: return name == "char" ? .character(bytes) : .signed(bytes)
        case DW_ATE_unsigned_char: return name == "char" ? .character(bytes) : .unsigned(bytes)
        case DW_ATE_address: return .pointer(bytes)
        default: return nil
        }
    }

    private func enumeration(_ size: UInt8) -> ArgumentKind {
        var cases: [String: Int64] = [:]
        forEachChild(DW_TAG_enumerator) { child in
            var child = child
            var (attribute, value, unsigned) = (Dwarf_Attribute(), Dwarf_Sword(0), Dwarf_Word(0))
            guard let name = dwarf_diename(&child), dwarf_attr(&child, UInt32(DW_AT_const_value), &attribute) != nil
            else { return }
            if dwarf_formsdata(&attribute, &value) == 0 {
                cases[String(cString: name)] = Int64(value)
            } else if dwarf_formudata(&attribute, &unsigned) == 0 {
                cases[String(cString: name)] = Int64(bitPattern: UInt64(unsigned))
            }
        }
        let underlying = ArgumentType(of: die).map { [DW_ATE_signed, DW_ATE_signed_char].contains($0.encoding) }
        let isSigned = underlying ?? cases.values.contains { $0 < 0 }
        // The numbers may be written with any sign.
        let unused = UInt64(64 - 8 * min(Int(size), 8))
        for (name, number) in cases {
            let bits = UInt64(bitPattern: number) << unused
            cases[name] = isSigned ? Int64(bitPattern: bits) >> Int64(unused) : Int64(bitPattern: bits >> unused)
        }
        return .enumeration(size, isSigned: isSigned, cases: cases)
    }

    // MARK: Members

    /// The member `name` of a thing at `location`, or of what it points or refers to; nil when it has none.
    func member(_ name: String, at location: ArgumentLocation) -> (type: ArgumentType, location: ArgumentLocation)? {
        if isPointer || isReference {
            guard let target = target(at: location) else { return nil }
            return target.type.member(name, at: target.location)
        }
        guard isClass else { return nil }
        return member(name, at: location, depth: 0)
    }

    /// What a thing at `location` points or refers to.
    func target(at location: ArgumentLocation) -> (type: ArgumentType, location: ArgumentLocation)? {
        guard isPointer || isReference, let type = ArgumentType(of: die) else { return nil }
        let target: ArgumentLocation = location.word().map { .memory($0) } ?? .gone
        // A reference to a pointer: what is asked for is what the pointer points to.
        if isReference, type.isPointer { return type.target(at: target) }
        return (type, target)
    }

    private func member(_ name: String, at location: ArgumentLocation, depth: Int)
        -> (type: ArgumentType, location: ArgumentLocation)?
    {
        var found: (type: ArgumentType, location: ArgumentLocation)?
        var inner: [(ArgumentType, Int)] = []
        forEachChild(nil) { child in
            var child = child
            let tag = Int(dwarf_tag(&child))
            guard found == nil, tag == DW_TAG_member || tag == DW_TAG_inheritance, let type = ArgumentType(of: child)
            else { return }
            let offset = Self.offset(of: &child)
            let childName = dwarf_diename(&child).map { String(cString: $0) }
            if tag == DW_TAG_member, childName == name {
                if let bits = Self.bits(of: &child, type) {
                    found = (type, Self.bitField(bits, in: location, size: type.size, type))
                } else if let offset {
                    found = (type, location.part(at: offset, size: type.size))
                }
            } else if let offset, tag == DW_TAG_inheritance || childName == nil && type.isClass {
                inner.append((type, offset))
            }
        }
        if let found { return found }
        guard depth < 32 else { return nil }
        for (type, offset) in inner {
            let place = location.part(at: offset, size: type.size)
            if let found = type.member(name, at: place, depth: depth + 1) { return found }
        }
        return nil
    }

    /// In bytes; nil for a static member, and for a virtual base, whose place only the object knows.
    static func offset(of member: inout Dwarf_Die) -> Int? {
        var (attribute, value) = (Dwarf_Attribute(), Dwarf_Word(0))
        if dwarf_attr(&member, UInt32(DW_AT_external), &attribute) != nil { return nil }
        guard dwarf_attr(&member, UInt32(DW_AT_data_member_location), &attribute) != nil else { return 0 }
        return dwarf_formudata(&attribute, &value) == 0 ? Int(clamping: value) : nil
    }

    /// The lowest bit and the number of bits of a bit field; nil for another member.
    static func bits(of member: inout Dwarf_Die, _ type: ArgumentType) -> (low: Int, count: Int)? {
        var (attribute, count, low) = (Dwarf_Attribute(), Dwarf_Word(0), Dwarf_Word(0))
        guard dwarf_attr(&member, UInt32(DW_AT_bit_size), &attribute) != nil, dwarf_formudata(&attribute, &count) == 0
        else { return nil }
        if dwarf_attr(&member, UInt32(DW_AT_data_bit_offset), &attribute) != nil,
            dwarf_formudata(&attribute, &low) == 0
        {
            return (Int(low), Int(count))
        }
        guard dwarf_attr(&member, UInt32(DW_AT_bit_offset), &attribute) != nil, dwarf_formudata(&attribute, &low) == 0
        else { return nil }
        // Before DWARF 4, bits were counted from the highest of the storage unit.
        return ((offset(of: &member) ?? 0) * 8 + type.size * 8 - Int(low) - Int(count), Int(count))
    }

    private static func bitField(
        _ bits: (low: Int, count: Int), in location: ArgumentLocation, size: Int, _ type: ArgumentType
    ) -> ArgumentLocation {
        guard size > 0, size <= 8, bits.count < 64, bits.count > 0 else { return .gone }
        let unit = bits.low / (size * 8) * size, low = bits.low - unit * 8
        guard low + bits.count <= size * 8, let word = location.part(at: unit, size: size).word(size: size) else {
            return .gone
        }
        let isSigned = if case .signed? = type.kind { true } else { false }
        return .value(word + [.bits(low: UInt8(low), count: UInt8(bits.count), isSigned: isSigned)])
    }

    func forEachChild(_ tag: Int?, _ body: (Dwarf_Die) -> Void) { Self.forEachChild(of: die, tag, body) }

    static func forEachChild(of die: Dwarf_Die, _ tag: Int?, _ body: (Dwarf_Die) -> Void) {
        var (parent, child) = (die, Dwarf_Die())
        guard dwarf_child(&parent, &child) == 0 else { return }
        var address: UnsafeMutableRawPointer?
        repeat {
            if tag == nil || Int(dwarf_tag(&child)) == tag { body(child) }
            address = child.addr
        } while withUnsafeMutablePointer(to: &child) { dwarf_siblingof($0, $0) } == 0 && child.addr > address!
    }

    // MARK: Texts

    /// The members that say where the characters of a library's text are, and how many.
    private static let texts = [
        ("basic_string<char", ["_M_dataplus", "_M_p"], ["_M_string_length"]),
        ("basic_string_view<char", ["_M_str"], ["_M_len"]),
        ("basic_string_view<char", ["__data_"], ["__size_"]),
        ("basic_string_view<char", ["__data"], ["__size"]),
    ]

    private func text(at location: ArgumentLocation) -> (kind: ArgumentKind, steps: [ArgumentStep])? {
        guard let name else { return nil }
        for (prefix, data, size) in Self.texts where name.hasPrefix(prefix + ",") || name.hasPrefix(prefix + ">") {
            guard let data = member(data, at: location), let size = member(size, at: location) else { continue }
            guard let start = data.word(), let count = size.word() else { return (.optimizedOut, []) }
            return (.text, start + count + [.giveText])
        }
        return declaredText(name, at: location)
    }

    /// clang describes libstdc++'s string, or parts of it, in none of a program's units, because the library has its code. The address of
    /// its characters comes first in it, and their number next.
    private func declaredText(_ name: String, at location: ArgumentLocation)
        -> (kind: ArgumentKind, steps: [ArgumentStep])?
    {
        guard name.hasPrefix("basic_string<char, std::char_traits<char>"), isInside("__cxx11") else { return nil }
        guard case .memory(let steps) = location else { return (.optimizedOut, []) }
        return (.text, steps + [.load(8)] + steps + [.add(8), .load(8), .giveText])
    }

    private func isInside(_ space: String) -> Bool {
        var die = die
        var scopes: UnsafeMutablePointer<Dwarf_Die>?
        let count = dwarf_getscopes_die(&die, &scopes)
        defer { free(scopes) }
        return (0..<max(0, Int(count))).contains { index in
            Int(dwarf_tag(scopes! + index)) == DW_TAG_namespace
                && dwarf_diename(scopes! + index).map { String(cString: $0) } == space
        }
    }

    private func member(_ path: [String], at location: ArgumentLocation) -> ArgumentLocation? {
        var (type, place) = (self, location)
        for name in path {
            guard let next = type.member(name, at: place, depth: 0) else { return nil }
            (type, place) = next
        }
        return place
    }

    var mangledName: String? {
        var (die, attribute) = (die, Dwarf_Attribute())
        guard dwarf_attr(&die, UInt32(DW_AT_linkage_name), &attribute) != nil else { return nil }
        return dwarf_formstring(&attribute).map { String(cString: $0) }
    }

    private static let swiftSigned: Set = ["$sSiD", "$ss4Int8VD", "$ss5Int16VD", "$ss5Int32VD", "$ss5Int64VD"]
    private static let swiftUnsigned: Set = ["$sSuD", "$ss5UInt8VD", "$ss6UInt16VD", "$ss6UInt32VD", "$ss6UInt64VD"]

    /// Whether Swift passes it in one general register: a number, a truth value, an enumeration of a byte, or a reference.
    var isSwiftWord: Bool {
        guard let mangledName else { return false }
        return Self.swiftSigned.contains(mangledName) || Self.swiftUnsigned.contains(mangledName)
            || mangledName == "$sSbD" || mangledName.hasSuffix("OD") && size == 1 || isSwiftReference
    }

    private var isSwiftReference: Bool {
        guard let mangledName else { return false }
        return mangledName.hasPrefix("$s") && mangledName.hasSuffix("CD") && (size == 8 || isPointer)
    }

    /// A thing of this type at `location`: its value, or a structure and the values of its members behind it, whose names have the
    /// structure's in front.
    ///
    /// - Parameter reason: why its place is not known, if it is not.
    func values(_ name: String, at location: ArgumentLocation, otherwise reason: ArgumentKind) -> [FoundArgument] {
        if isClass, location.isGone { return [FoundArgument(name: name, kind: reason, steps: [])] }
        var members = 0
        return values(name, at: location, &members, depth: 0).map { found in
            var found = found
            if found.kind == .optimizedOut { found.kind = reason }
            return found
        }
    }

    /// The value of one of Swift's enumerations at `location`, which has these cases and takes a byte; nil when it is gone, or
    /// has another size.
    func enumeration(_ cases: [String: Int64], at location: ArgumentLocation) -> (
        kind: ArgumentKind, steps: [ArgumentStep]
    )? {
        guard size == 1 else { return (.aggregate, []) }
        let value = scalar(.enumeration(1, isSigned: false, cases: cases), at: location, 1)
        return value.kind == .optimizedOut ? nil : value
    }

    private static let memberLimit = 16

    private func values(_ name: String, at location: ArgumentLocation, _ count: inout Int, depth: Int)
        -> [FoundArgument]
    {
        let target = isReference ? self.target(at: location) : nil
        let (type, place) = target ?? (self, location)
        let whole = type.value(at: place)
        var members: [FoundArgument] = []
        if whole.kind == .aggregate, type.isStructure, depth < 4, !place.isGone {
            type.forEachMember(at: place, depth: 0) { member, type, place in
                guard count < Self.memberLimit else { return }
                count += 1
                members += type.values("\(name).\(member)", at: place, &count, depth: depth + 1)
            }
        }
        if members.isEmpty {
            let kind = whole.kind == .aggregate && place.isGone ? .optimizedOut : whole.kind
            return [FoundArgument(name: name, kind: kind, steps: whole.steps)]
        }
        return [FoundArgument(name: name, kind: .structure(members.count), steps: [])] + members
    }

    /// Passes the members that have names, those of the classes that it inherits from first.
    private func forEachMember(
        at location: ArgumentLocation, depth: Int, _ body: (String, ArgumentType, ArgumentLocation) -> Void
    ) {
        guard depth < 8 else { return }
        forEachChild(nil) { child in
            var child = child
            let tag = Int(dwarf_tag(&child))
            guard tag == DW_TAG_member || tag == DW_TAG_inheritance, let type = ArgumentType(of: child) else { return }
            let name = dwarf_diename(&child).map { String(cString: $0) }
            if tag == DW_TAG_member, let name, !name.hasPrefix("_vptr"), let member = member(name, at: location) {
                body(name, member.type, member.location)
            } else if tag == DW_TAG_inheritance, let offset = Self.offset(of: &child) {
                type.forEachMember(at: location.part(at: offset, size: type.size), depth: depth + 1, body)
            }
        }
    }

    /// Swift's numbers are structures that DWARF says nothing of but their mangled names and sizes.
    private func swift(at location: ArgumentLocation) -> (kind: ArgumentKind, steps: [ArgumentStep])? {
        guard let mangled = mangledName else { return nil }
        let size = size, bytes = UInt8(clamping: size)
        if size == 16, mangled == "$sSSD" {
            guard let first = location.part(at: 0, size: 8).word(), let second = location.part(at: 8, size: 8).word()
            else { return (.optimizedOut, []) }
            return (.text, first + second + [.giveSwift])
        }
        guard (1...8).contains(size) else { return nil }
        if isSwiftReference { return scalar(.pointer(bytes), at: location, size) }
        switch mangled {
        case _ where Self.swiftSigned.contains(mangled): return scalar(.signed(bytes), at: location, size)
        case _ where Self.swiftUnsigned.contains(mangled): return scalar(.unsigned(bytes), at: location, size)
        case "$sSbD": return scalar(.bool(bytes), at: location, size)
        case "$sSdD", "$sSfD": return scalar(.floating(bytes), at: location, size)
        default: return nil
        }
    }
}
