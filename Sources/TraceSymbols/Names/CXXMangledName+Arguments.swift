/// Template arguments, and the declarations and constraints among them.
extension CXXMangledName {
    /// - Parameter isFunction: whether they are those that the function's types refer to.
    mutating func templateArguments(isFunction: Bool) throws(Unreadable) -> [CXXText] {
        try expect("I")
        if isFunction { (given, givenContext) = ([], newContext()) }
        return try argumentsToEnd(isFunction: isFunction)
    }

    mutating func argumentsToEnd(isFunction: Bool = false) throws(Unreadable) -> [CXXText] {
        var result: [CXXText] = []
        while !take("E") {
            if try takeConstraint() { continue }
            let argument = try templateArgument()
            result.append(argument)
            if isFunction { given?.append(argument) }
        }
        return result
    }

    private mutating func templateArgument() throws(Unreadable) -> CXXText {
        // The declaration of the parameter that the argument is for says nothing that the argument does not.
        if isAt("T"), "yknpt".utf8.contains(peek(1)) { try declaration() }
        switch peek() {
        case UInt8(ascii: "L"): return CXXText(try literal())
        case UInt8(ascii: "X"):
            position += 1
            let text = try expression()
            try expect("E")
            return CXXText(text)
        case UInt8(ascii: "J"):
            position += 1
            var pack = CXXText([])
            pack.elements = try inside { (self) throws(Unreadable) in try self.argumentsToEnd() }
            pack.isExpanded = true
            return pack
        default: return try singleType()
        }
    }

    /// Skips the declaration of a template's parameter.
    mutating func declaration() throws(Unreadable) {
        try expect("T")
        let kind = peek()
        position += 1
        switch kind {
        case UInt8(ascii: "y"): return
        case UInt8(ascii: "k"): try constraint { (self) throws(Unreadable) in try self.name() }
        case UInt8(ascii: "n"): try constraint { (self) throws(Unreadable) in try self.type() }
        case UInt8(ascii: "p"): try inside { (self) throws(Unreadable) in try self.declaration() }
        case UInt8(ascii: "t"):
            try inside { (self) throws(Unreadable) in
                while !self.take("E") {
                    if try !self.takeConstraint() { try self.declaration() }
                }
            }
        default: throw Unreadable()
        }
    }

    /// Reads a constraint, `Q` or `Tk` being read, or what is skipped like one. It may name arguments that come later.
    mutating func constraint<T>(_ body: (inout Self) throws(Unreadable) -> T) throws(Unreadable) {
        constraints += 1
        defer { constraints -= 1 }
        _ = try body(&self)
    }

    mutating func takeConstraint() throws(Unreadable) -> Bool {
        guard take("Q") else { return false }
        try constraint { (self) throws(Unreadable) in try self.expression() }
        return true
    }

    mutating func literal() throws(Unreadable) -> [UInt8] {
        try expect("L")
        if take("_Z") {
            let name = try encoding(isScope: true)
            try expect("E")
            return name.whole
        }
        let letter = peek()
        let isBuiltin = Self.builtins[letter] != nil
        let type = try singleType()
        let isNegative = take("n")
        let start = position
        while !take("E") {
            if peek() == 0 { throw Unreadable() }
            position += 1
        }
        let value = (isNegative ? [UInt8(ascii: "-")] : []) + text[start..<position - 1]
        if letter == UInt8(ascii: "b"), !isNegative, value.elementsEqual("0".utf8) || value.elementsEqual("1".utf8) {
            return Array((value.elementsEqual("1".utf8) ? "true" : "false").utf8)
        }
        if isBuiltin, let suffix = Self.suffixes[letter] { return value + suffix.utf8 }
        let cast = [UInt8(ascii: "(")] + type.whole + [UInt8(ascii: ")")]
        // Numbers with fractions are the hexadecimal digits of their bytes.
        return isBuiltin && "fdeg".utf8.contains(letter)
            ? cast + [UInt8(ascii: "[")] + value + [UInt8(ascii: "]")] : cast + value
    }

    private static let suffixes: [UInt8: String] = [
        UInt8(ascii: "i"): "", UInt8(ascii: "j"): "u", UInt8(ascii: "l"): "l", UInt8(ascii: "m"): "ul",
        UInt8(ascii: "x"): "ll", UInt8(ascii: "y"): "ull",
    ]
}
