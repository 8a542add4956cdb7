/// Template arguments, and the declarations and constraints among them.
extension ConstrainedCXXName {
    mutating func templateArguments() throws(Unreadable) {
        try expect("I")
        try untilEnd { (self) throws(Unreadable) in try self.templateArgument() }
    }

    mutating func templateArgument() throws(Unreadable) {
        if try takeDeclaration() { return }
        switch peek() {
        case UInt8(ascii: "Q"): try constraint()
        case UInt8(ascii: "L"): try literal()
        case UInt8(ascii: "X"):
            position += 1
            try expression()
            try expect("E")
        case UInt8(ascii: "J"):
            position += 1
            try inside { (self) throws(Unreadable) in
                try self.untilEnd { (self) throws(Unreadable) in try self.templateArgument() }
            }
        default: try type()
        }
    }

    /// Takes the declaration of the parameter that an argument is for, which says nothing that the argument does not.
    ///
    /// - Parameter inLambda: there it stands for the parameter itself, and one without a constraint does.
    mutating func takeDeclaration(inLambda: Bool = false) throws(Unreadable) -> Bool {
        guard isAt("T"), "yknpt".utf8.contains(peek(1)) else { return false }
        if inLambda, !isAt("Tk") {
            try declaration()
            return true
        }
        // `std::integral` is no name that references count, and neither is one outside of namespaces.
        let isPlain = isAt("TkSt") || isAt("Ty") || isAt("TpTkSt") || isAt("TpTy") || Self.isDigit(peek(2))
        let start = position
        try leaveOut(countsReferences: false, replacement: inLambda ? "Ty" : "") { (self) throws(Unreadable) in
            try self.declaration()
        }
        if leftOut == 0, !isPlain || text[start..<position].contains(UInt8(ascii: "I")) { lostReferences = true }
        return true
    }

    private mutating func declaration() throws(Unreadable) {
        try expect("T")
        position += 1
        switch text[position - 1] {
        case UInt8(ascii: "y"): return
        case UInt8(ascii: "k"):
            try name()
        case UInt8(ascii: "n"): try type()
        case UInt8(ascii: "p"): try inside { (self) throws(Unreadable) in try self.declaration() }
        default:
            try inside { (self) throws(Unreadable) in
                try self.untilEnd { (self) throws(Unreadable) in
                    if self.isAt("Q") { try self.constraint() } else { try self.declaration() }
                }
            }
        }
    }

    mutating func constraint() throws(Unreadable) {
        try leaveOut { (self) throws(Unreadable) in
            try self.expect("Q")
            try self.expression()
        }
    }

    mutating func literal() throws(Unreadable) {
        try expect("L")
        if take("_Z") {
            try name()
            while !take("E") { try type() }
            return
        }
        try type()
        while !take("E") {
            if peek() == 0 { throw Unreadable() }
            position += 1
        }
    }
}
