internal import CElfutils

/// How values of a type are passed to functions and returned on x86-64 (System V Application Binary Interface, AMD64
/// Architecture Processor Supplement, 3.2.3; Itanium C++ ABI, 3.1.1).
enum ValuePassing: Equatable {
    /// In a register for each eight bytes.
    case registers([ValueClass])
    /// In the caller's frame, at a multiple of so many bytes; what is returned, where the caller says.
    case memory(alignment: Int)
    /// By its address.
    case reference
    /// In a register of the x87 where it is returned; otherwise in memory.
    case x87
    case nothing
}

/// What kind of register eight bytes of a value are passed in.
enum ValueClass {
    /// They only fill it up.
    case none
    case integer
    case vector
    /// The second half of a vector register.
    case upperVector
    case x87
}

extension ArgumentType {
    /// nil when DWARF does not tell.
    var passing: ValuePassing? {
        // Of what is nothing, Swift only declares the type.
        if swiftPassing == .nothing { return .nothing }
        if isIncomplete { return name?.hasPrefix("basic_string<") == true ? .reference : nil }
        if let swift = swiftPassing { return swift }
        if isClass, let byReference = isPassedByReference {
            if byReference { return .reference }
        } else if isClass {
            return nil
        }
        var alignment = 1
        guard size > 0 else { return isClass ? .nothing : nil }
        if size > 16 {
            guard !isFloating || name == "complex long double", measure(&alignment, depth: 0) else { return nil }
            return alignment <= 16 ? .memory(alignment: max(alignment, 8)) : nil
        }
        var classes = [ValueClass](repeating: .none, count: (size + 7) / 8)
        switch classify(&classes, at: 0, depth: 0) {
        case .unknown: return nil
        case .memory:
            guard measure(&alignment, depth: 0) else { return nil }
            return .memory(alignment: max(alignment, 8))
        case .classes: break
        }
        if classes.contains(.x87) { return .x87 }
        return classes.allSatisfy { $0 == .none } ? .nothing : .registers(classes)
    }

    private enum Outcome { case classes, memory, unknown }

    private func classify(_ classes: inout [ValueClass], at offset: Int, depth: Int) -> Outcome {
        guard depth < 32 else { return .unknown }
        if isClass { return classifyMembers(&classes, at: offset, depth: depth) }
        if let (element, count) = elements {
            guard count * element.size <= 16 else { return .memory }
            for index in 0..<count {
                let outcome = element.classify(&classes, at: offset + index * element.size, depth: depth + 1)
                if outcome != .classes { return outcome }
            }
            return .classes
        }
        guard let scalar = scalarClasses, let alignment = scalarAlignment else { return .unknown }
        guard offset % alignment == 0, offset + size <= classes.count * 8 else { return .memory }
        for (index, one) in scalar.enumerated() where !Self.merge(one, into: &classes[offset / 8 + index]) {
            return .memory
        }
        return .classes
    }

    private func classifyMembers(_ classes: inout [ValueClass], at offset: Int, depth: Int) -> Outcome {
        var outcome = Outcome.classes
        forEachChild(nil) { child in
            var child = child
            let tag = Int(dwarf_tag(&child))
            guard outcome == .classes, tag == DW_TAG_member || tag == DW_TAG_inheritance else { return }
            guard let type = ArgumentType(of: child) else { return outcome = .unknown }
            if type.isIncomplete { return outcome = .unknown }
            if let bits = Self.bits(of: &child, type) {
                guard bits.count > 0 else { return }
                for index in (offset * 8 + bits.low) / 64...(offset * 8 + bits.low + bits.count - 1) / 64 {
                    guard index < classes.count, Self.merge(.integer, into: &classes[index]) else {
                        return outcome = .memory
                    }
                }
            } else if let place = Self.offset(of: &child), !Self.isStatic(&child) {
                outcome = type.classify(&classes, at: offset + place, depth: depth + 1)
            } else if tag == DW_TAG_inheritance {
                outcome = .unknown
            }
        }
        return outcome
    }

    private static func merge(_ one: ValueClass, into other: inout ValueClass) -> Bool {
        if other == one || one == .none { return true }
        if other == .none {
            other = one
            return true
        }
        // What is not in memory then: an integer beside a vector register's half.
        guard one != .x87, other != .x87, one != .upperVector, other != .upperVector else { return false }
        other = .integer
        return true
    }

    /// The class of each eight bytes of what has no parts.
    private var scalarClasses: [ValueClass]? {
        if isPointer || isReference || isEnumeration { return size <= 8 ? [.integer] : nil }
        if isMemberPointer { return size == 16 ? [.integer, .integer] : [.integer] }
        guard isBase, name?.contains("BitInt") != true else { return nil }
        switch encoding {
        case DW_ATE_boolean, DW_ATE_signed, DW_ATE_unsigned, DW_ATE_signed_char, DW_ATE_unsigned_char, DW_ATE_UTF,
            DW_ATE_address:
            return size <= 8 ? [.integer] : size == 16 ? [.integer, .integer] : nil
        case DW_ATE_float:
            if size <= 8 { return [.vector] }
            return size != 16 ? nil : name == "long double" ? [.x87, .x87] : [.vector, .upperVector]
        case DW_ATE_complex_float: return size <= 8 ? [.vector] : size == 16 ? [.vector, .vector] : nil
        default: return nil
        }
    }

    private var scalarAlignment: Int? {
        isBase && encoding == DW_ATE_complex_float ? max(size / 2, 1) : isMemberPointer ? 8 : size > 0 ? size : nil
    }

    /// Finds the alignment that the value has by its parts; false when it has parts that are passed in other ways.
    private func measure(_ alignment: inout Int, depth: Int) -> Bool {
        guard depth < 32 else { return false }
        if let own = writtenAlignment { alignment = max(alignment, own) }
        if let (element, _) = elements { return element.measure(&alignment, depth: depth + 1) }
        guard isClass else {
            if isBase, encoding == DW_ATE_complex_float, size == 32 {
                alignment = max(alignment, 16)
                return true
            }
            guard scalarClasses != nil, let own = scalarAlignment else { return false }
            alignment = max(alignment, own)
            return true
        }
        var isKnown = true
        forEachChild(nil) { child in
            var child = child
            let tag = Int(dwarf_tag(&child))
            guard isKnown, tag == DW_TAG_member || tag == DW_TAG_inheritance, !Self.isStatic(&child) else { return }
            if let own = Self.alignment(of: &child) { alignment = max(alignment, own) }
            guard let type = ArgumentType(of: child), !type.isIncomplete else { return isKnown = false }
            isKnown = type.measure(&alignment, depth: depth + 1)
        }
        return isKnown
    }

    private var writtenAlignment: Int? {
        var die = die
        return Self.alignment(of: &die)
    }

    private static func alignment(of die: inout Dwarf_Die) -> Int? {
        var (attribute, value) = (Dwarf_Attribute(), Dwarf_Word(0))
        guard dwarf_attr(&die, UInt32(DW_AT_alignment), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0
        else { return nil }
        return Int(clamping: value)
    }

    private static func isStatic(_ member: inout Dwarf_Die) -> Bool {
        var attribute = Dwarf_Attribute()
        return dwarf_attr(&member, UInt32(DW_AT_external), &attribute) != nil
    }

    private var isIncomplete: Bool {
        var (die, attribute) = (die, Dwarf_Attribute())
        return dwarf_attr(&die, UInt32(DW_AT_declaration), &attribute) != nil
    }

    private var isFloating: Bool { isBase && [DW_ATE_float, DW_ATE_complex_float].contains(encoding) }

    /// Whether a class is copied by functions of its own; nil when that is not said.
    private var isPassedByReference: Bool? {
        var (die, attribute, value) = (die, Dwarf_Attribute(), Dwarf_Word(0))
        if dwarf_attr(&die, UInt32(DW_AT_calling_convention), &attribute) != nil,
            dwarf_formudata(&attribute, &value) == 0
        {
            return value == UInt64(DW_CC_pass_by_reference)
        }
        switch DWARFLanguage(of: die) {
        case .c: return false
        case .swift: return nil
        case .other: return isCopiedByFunctions(depth: 0)
        }
    }

    /// What gcc does not say: whether a class has, or inherits, a destructor or a constructor that copies it and does more
    /// than to copy bytes. nil where it might.
    private func isCopiedByFunctions(depth: Int) -> Bool? {
        guard depth < 32 else { return nil }
        if name?.hasPrefix("basic_string<") == true { return true }
        var result: Bool? = false
        // A copy that has to be made by a function decides, and what is not known does not.
        func add(_ other: Bool?) { if result != true { result = other == true ? true : other == nil ? nil : result } }
        forEachChild(nil) { child in
            var (child, attribute) = (child, Dwarf_Attribute())
            let childName = dwarf_diename(&child).map { String(cString: $0) } ?? ""
            switch Int(dwarf_tag(&child)) {
            case DW_TAG_subprogram:
                if dwarf_attr(&child, UInt32(DW_AT_virtuality), &attribute) != nil { return add(true) }
                guard childName.hasPrefix("~") || isCopying(child, childName) else { return }
                // Only DWARF 5 tells what the compiler has written itself.
                let isOwn = dwarf_attr(&child, UInt32(DW_AT_artificial), &attribute) != nil
                if dwarf_attr(&child, UInt32(DW_AT_deleted), &attribute) != nil || Self.version(of: child) < 5, !isOwn {
                    return add(nil)
                }
                add(!isOwn && Self.defaulted(child) != DW_DEFAULTED_in_class)
            case DW_TAG_member, DW_TAG_inheritance:
                guard !Self.isStatic(&child) else { return }
                if dwarf_attr(&child, UInt32(DW_AT_virtuality), &attribute) != nil || childName.hasPrefix("_vptr") {
                    return add(true)
                }
                guard let type = ArgumentType(of: child), !type.isIncomplete else { return add(nil) }
                let innermost = type.elements?.type ?? type
                if innermost.isClass { add(innermost.isCopiedByFunctions(depth: depth + 1)) }
            default: break
            }
        }
        return result
    }

    /// Whether a member function is a constructor from another one of the class.
    private func isCopying(_ function: Dwarf_Die, _ functionName: String) -> Bool {
        // A constructor is named as the class, without what stands in angle brackets.
        guard functionName == name.map({ $0.prefix { $0 != "<" } }) ?? "" else { return false }
        var parameters: [Dwarf_Die] = []
        ArgumentType.forEachChild(of: function, DW_TAG_formal_parameter) { parameters.append($0) }
        guard parameters.count == 2, let reference = ArgumentType(of: parameters[1]), reference.isReference,
            let target = ArgumentType(of: reference.die)
        else { return false }
        return target.die.addr == die.addr || target.name == name
    }

    private static func version(of die: Dwarf_Die) -> Int {
        var version: Dwarf_Half = 0
        guard let unit = die.cu, dwarf_cu_info(unit, &version, nil, nil, nil, nil, nil, nil) == 0 else { return 0 }
        return Int(version)
    }

    private static func defaulted(_ function: Dwarf_Die) -> Int {
        var (function, attribute, value) = (function, Dwarf_Attribute(), Dwarf_Word(0))
        guard dwarf_attr(&function, UInt32(DW_AT_defaulted), &attribute) != nil,
            dwarf_formudata(&attribute, &value) == 0
        else { return 0 }
        return Int(value)
    }

    /// What Swift passes in registers that are known.
    private var swiftPassing: ValuePassing? {
        guard isClass, let name = mangledName, name.hasPrefix("$s") else { return nil }
        switch name {
        case "$sytD": return .nothing
        case "$sSSD": return .registers([.integer, .integer])
        case "$sSdD", "$sSfD": return .registers([.vector])
        default: return isSwiftWord ? .registers([.integer]) : nil
        }
    }
}

/// The language of a unit, as far as it matters for how values are passed.
enum DWARFLanguage {
    case c, swift, other

    init(of die: Dwarf_Die) {
        var (die, unit, attribute, value) = (die, Dwarf_Die(), Dwarf_Attribute(), Dwarf_Word(0))
        var (addressSize, offsetSize) = (UInt8(0), UInt8(0))
        guard dwarf_diecu(&die, &unit, &addressSize, &offsetSize) != nil,
            dwarf_attr(&unit, UInt32(DW_AT_language), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0
        else {
            self = .other
            return
        }
        switch Int(value) {
        case DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11: self = .c
        case DW_LANG_Swift: self = .swift
        default: self = .other
        }
    }
}
