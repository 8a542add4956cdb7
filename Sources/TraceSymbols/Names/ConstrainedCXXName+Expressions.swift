/// Expressions, section 5.1.6 of the ABI: constraints are such, and arguments and types may hold some.
extension ConstrainedCXXName {
    mutating func expression() throws(Unreadable) {
        try inside { (self) throws(Unreadable) in try self.innerExpression() }
    }

    mutating func expressions() throws(Unreadable) {
        try untilEnd { (self) throws(Unreadable) in try self.expression() }
    }

    private mutating func innerExpression() throws(Unreadable) {
        switch peek() {
        case UInt8(ascii: "L"): return try literal()
        case UInt8(ascii: "T"): return try templateParameter()
        case UInt8(ascii: "X"):
            position += 1
            try expression()
            return try expect("E")
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try simpleName()
        case UInt8(ascii: "J"):
            position += 1
            return try untilEnd { (self) throws(Unreadable) in try self.templateArgument() }
        case UInt8(ascii: "f"): return try parameterOrFold()
        default: break
        }
        let word = String(decoding: [peek(), peek(1)], as: UTF8.self)
        position += 2
        switch word {
        case "sr": try scopedName()
        case "gs", "sp", "te", "sz", "az", "nx", "tw", "ps", "ng", "ad", "de", "co", "nt", "dl", "da": try expression()
        case "pp", "mm":
            _ = take("_")
            try expression()
        case "st", "at", "ti": try type()
        case "on":
            try operatorName()
            if peek() == UInt8(ascii: "I") { try templateArguments() }
        case "dn": if Self.isDigit(peek()) { try simpleName() } else { try type() }
        case "cl", "cp", "il": try expressions()
        case "tl":
            try type()
            try expressions()
        case "cv":
            try type()
            if take("_") { try expressions() } else { try expression() }
        case "dc", "sc", "cc", "rc":
            try type()
            try expression()
        case "sZ": if peek() == UInt8(ascii: "T") { try templateParameter() } else { try expression() }
        case "sP": try untilEnd { (self) throws(Unreadable) in try self.templateArgument() }
        case "tr": break
        case "qu":
            for _ in 0..<3 { try expression() }
        case "rq": try requirements()
        case "rQ":
            while !take("_") { try type() }
            try requirements()
        case "nw", "na":
            while !take("_") { try expression() }
            try type()
            if take("pi") { try expressions() } else { try expect("E") }
        default:
            guard word.utf8.first! >= UInt8(ascii: "a"), word.utf8.first! <= UInt8(ascii: "z") else {
                throw Unreadable()
            }
            try expression()
            try expression()
        }
    }

    private mutating func requirements() throws(Unreadable) {
        try untilEnd { (self) throws(Unreadable) in
            if self.take("X") {
                try self.expression()
                _ = self.take("N")
                if self.take("R") { try self.name() }
            } else if self.take("T") {
                try self.type()
            } else {
                try self.expect("Q")
                try self.expression()
            }
        }
    }

    /// `sr` was read.
    private mutating func scopedName() throws(Unreadable) {
        if take("N") {
            try type()
            while !take("E") { try simpleName() }
        } else if Self.isDigit(peek()) {
            while !take("E") { try simpleName() }
        } else {
            try type()
        }
        if take("on") { try operatorName() } else { try simpleName() }
        if peek() == UInt8(ascii: "I") { try templateArguments() }
    }

    private mutating func simpleName() throws(Unreadable) {
        try sourceName()
        if peek() == UInt8(ascii: "I") { try templateArguments() }
    }

    /// `fp_`, `fL0p1_`, or a fold: `fl`, `fr`, `fL`, `fR` and an operator.
    private mutating func parameterOrFold() throws(Unreadable) {
        position += 1
        if take("pT") { return }
        if take("p") || isAt("L") && Self.isDigit(peek(1)) {
            if take("L") {
                while Self.isDigit(peek()) { position += 1 }
                try expect("p")
            }
            while take("r") || take("V") || take("K") {}
            return try index()
        }
        let isBinary = isAt("L") || isAt("R")
        position += 1
        try operatorName()
        try expression()
        if isBinary { try expression() }
    }
}
