/// Types, section 5.1.5 of the ABI.
extension ConstrainedCXXName {
    mutating func type() throws(Unreadable) {
        try inside { (self) throws(Unreadable) in try self.innerType() }
    }

    private mutating func innerType() throws(Unreadable) {
        while "rVKPROCG".utf8.contains(peek()) { position += 1 }
        switch peek() {
        case UInt8(ascii: "U"):
            if isAt("Ul") || isAt("Ut") { return try name() }
            position += 1
            try sourceName()
            if peek() == UInt8(ascii: "I") { try templateArguments() }
            try type()
        case UInt8(ascii: "u"):
            position += 1
            try sourceName()
            if peek() == UInt8(ascii: "I") { try templateArguments() }
        case UInt8(ascii: "D"): try typeOfTwoLetters()
        case UInt8(ascii: "F"):
            position += 1
            _ = take("Y")
            try untilEnd { (self) throws(Unreadable) in
                if self.isAt("RE") || self.isAt("OE") { self.position += 1 } else { try self.type() }
            }
        case UInt8(ascii: "A"):
            position += 1
            if Self.isDigit(peek()) { return try array() }
            if peek() != UInt8(ascii: "_") { try expression() }
            try array()
        case UInt8(ascii: "M"):
            position += 1
            try type()
            try type()
        case UInt8(ascii: "T"):
            if "sue".utf8.contains(peek(1)) {
                position += 2
                return try name()
            }
            try templateParameter()
            if peek() == UInt8(ascii: "I") { try templateArguments() }
        case UInt8(ascii: "a")...UInt8(ascii: "z"): position += 1
        default:
            let before = last
            try name()
            last = before
        }
    }

    private mutating func array() throws(Unreadable) {
        try index()
        try type()
    }

    mutating func typeOfTwoLetters() throws(Unreadable) {
        let kind = peek(1)
        position += 2
        switch kind {
        case UInt8(ascii: "p"), UInt8(ascii: "o"): try type()
        case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "O"):
            try expression()
            try expect("E")
            if kind == UInt8(ascii: "O") { try type() }
        case UInt8(ascii: "w"):
            try untilEnd { (self) throws(Unreadable) in try self.type() }
            try type()
        case UInt8(ascii: "v"):
            if peek() == UInt8(ascii: "_") {
                position += 1
                try expression()
            }
            try array()
        case UInt8(ascii: "F"), UInt8(ascii: "B"), UInt8(ascii: "U"):
            while Self.isDigit(peek()) { position += 1 }
            if !take("b"), !take("x") { try expect("_") }
        default: break
        }
    }
}
