/// Expressions, section 5.1.6 of the ABI: constraints are such, and arguments and types may hold some.
extension CXXMangledName {
    mutating func expression() throws(Unreadable) -> [UInt8] {
        try inside { (self) throws(Unreadable) in
            let text = try self.innerExpression()
            try self.count(text.count)
            return text
        }
    }

    /// Expressions up to an `E`, in brackets.
    private mutating func expressions(_ open: String = "(", _ close: String = ")") throws(Unreadable) -> [UInt8] {
        var result: [CXXText] = []
        while !take("E") { result.append(CXXText(try expression())) }
        return open.utf8 + (try joined(result)) + close.utf8
    }

    private static func bracketed(_ text: [UInt8]) -> [UInt8] { [UInt8(ascii: "(")] + text + [UInt8(ascii: ")")] }

    private mutating func innerExpression() throws(Unreadable) -> [UInt8] {
        switch peek() {
        case UInt8(ascii: "L"): return try literal()
        case UInt8(ascii: "T"): return try single(try templateParameter()).whole
        case UInt8(ascii: "X"):
            position += 1
            let text = try expression()
            try expect("E")
            return text
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try simpleName()
        case UInt8(ascii: "J"):
            position += 1
            return try joined(try argumentsToEnd())
        case UInt8(ascii: "f"): return try parameterOrFold()
        default: break
        }
        let word = String(decoding: [peek(), peek(1)], as: UTF8.self)
        position += 2
        switch word {
        case "sr": return try scopedName()
        case "gs": return "::".utf8 + (try expression())
        case "sp": return try expression() + "...".utf8
        case "te": return "typeid (".utf8 + (try expression()) + ")".utf8
        case "ti": return "typeid (".utf8 + (try singleType()).whole + ")".utf8
        case "sz": return "sizeof (".utf8 + (try expression()) + ")".utf8
        case "st": return "sizeof (".utf8 + (try singleType()).whole + ")".utf8
        case "az": return "alignof (".utf8 + (try expression()) + ")".utf8
        case "at": return "alignof (".utf8 + (try singleType()).whole + ")".utf8
        case "nx": return "noexcept (".utf8 + (try expression()) + ")".utf8
        case "tw": return "throw ".utf8 + (try expression())
        case "tr": return Array("throw".utf8)
        case "sZ": return "sizeof...(".utf8 + (try expression()) + ")".utf8
        case "sP":
            return "sizeof...(".utf8 + (try joined(try argumentsToEnd())) + ")".utf8
        case "on":
            let name = CXXText(try operatorName())
            return peek() == UInt8(ascii: "I") ? try withArguments(name).whole : name.whole
        case "dn": return "~".utf8 + (Self.isDigit(peek()) ? try simpleName() : try singleType().whole)
        case "cl", "cp": return try expression() + (try expressions())
        case "il": return try expressions("{", "}")
        case "tl": return try singleType().whole + (try expressions("{", "}"))
        case "cv":
            let type = Self.bracketed(try singleType().whole)
            return type + (take("_") ? try expressions() : Self.bracketed(try expression()))
        case "dc", "sc", "cc", "rc":
            let casts = ["dc": "dynamic", "sc": "static", "cc": "const", "rc": "reinterpret"]
            let type = try singleType().whole
            return "\(casts[word]!)_cast<".utf8 + type + ">(".utf8 + (try expression()) + ")".utf8
        case "qu":
            let condition = Self.bracketed(try expression())
            return condition + "?".utf8 + Self.bracketed(try expression()) + " : ".utf8
                + Self.bracketed(try expression())
        case "rq": return try requirements()
        case "rQ":
            while !take("_") { _ = try type() }
            return try requirements()
        case "nw", "na":
            while !take("_") { _ = try expression() }
            let type = try singleType().whole
            return "new ".utf8 + type + (take("pi") ? try expressions() : try nothingMore())
        case "dt", "pt":
            return try expression() + (word == "dt" ? "." : "->").utf8 + (try expression())
        case "ps", "ng", "ad", "de", "co", "nt", "dl", "da", "pp", "mm":
            let isPrefix = word != "pp" && word != "mm" || take("_")
            let symbol = word == "dl" ? "delete " : word == "da" ? "delete[] " : Self.operators[word]!
            let operand = Self.bracketed(try expression())
            return isPrefix ? symbol.utf8 + operand : operand + symbol.utf8
        case "ix": return Self.bracketed(try expression()) + "[".utf8 + (try expression()) + "]".utf8
        default:
            guard let symbol = Self.operators[word], !symbol.first!.isLetter else { throw Unreadable() }
            return Self.bracketed(try expression()) + symbol.utf8 + Self.bracketed(try expression())
        }
    }

    private mutating func nothingMore() throws(Unreadable) -> [UInt8] {
        try expect("E")
        return []
    }

    private mutating func requirements() throws(Unreadable) -> [UInt8] {
        while !take("E") {
            if take("X") {
                _ = try expression()
                _ = take("N")
                if take("R") { _ = try name() }
            } else if take("T") {
                _ = try type()
            } else {
                try expect("Q")
                _ = try expression()
            }
        }
        return Array("requires {...}".utf8)
    }

    /// `sr` was read.
    private mutating func scopedName() throws(Unreadable) -> [UInt8] {
        var scope: [UInt8]
        if take("N") {
            scope = try singleType().whole
            while !take("E") { scope += "::".utf8 + (try simpleName()) }
        } else if Self.isDigit(peek()) {
            scope = try simpleName()
            while !take("E") { scope += "::".utf8 + (try simpleName()) }
        } else {
            scope = try singleType().whole
        }
        guard take("on") else { return scope + "::".utf8 + (try simpleName()) }
        let name = CXXText(try operatorName())
        return scope + "::".utf8 + (peek() == UInt8(ascii: "I") ? try withArguments(name).whole : name.whole)
    }

    private mutating func simpleName() throws(Unreadable) -> [UInt8] {
        let name = CXXText(try sourceName())
        return peek() == UInt8(ascii: "I") ? try withArguments(name).whole : name.whole
    }

    /// `fp_`, `fL0p1_`, or a fold: `fl`, `fr`, `fL`, `fR` and an operator.
    private mutating func parameterOrFold() throws(Unreadable) -> [UInt8] {
        position += 1
        if take("pT") { return Array("this".utf8) }
        if take("p") || isAt("L") && Self.isDigit(peek(1)) {
            if take("L") {
                _ = try number()
                try expect("p")
            }
            while take("r") || take("V") || take("K") {}
            return Array("{parm#\(try index() + 1)}".utf8)
        }
        let kind = peek()
        position += 1
        let symbol = try operatorName().dropFirst("operator".utf8.count)
        let first = try expression()
        switch kind {
        case UInt8(ascii: "l"): return "(...".utf8 + symbol + first + ")".utf8
        case UInt8(ascii: "r"): return "(".utf8 + first + symbol + "...)".utf8
        case UInt8(ascii: "L"), UInt8(ascii: "R"):
            return "(".utf8 + first + symbol + "...".utf8 + symbol + (try expression()) + ")".utf8
        default: throw Unreadable()
        }
    }
}
