/// Takes what C++20 adds out of a mangled name, for a demangler that does not know it: libstdc++'s before GCC 13.
///
/// Constraints (`Tk`, `Q`) say which template is meant, and are no part of the name that people say. So they are left out,
/// and with them the parameters, which are not shown either, and whose references count what is left out. A name whose own
/// references do is not read.
///
/// The grammar is section 5.1 of the Itanium C++ ABI (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). Of it, this
/// knows as much as it takes to find where things end.
struct ConstrainedCXXName {
    private let text: [UInt8]
    private var position = 2
    /// What is replaced in `text`, in order, and by what.
    private var edits: [(range: Range<Int>, replacement: String)] = []
    /// How many parts around this one are left out.
    private var leftOut = 0
    /// Whether something was left out that later references count.
    private var lostReferences = false
    /// The names and types within one another that are being read.
    private var depth = 0
    /// What the name read last ended with.
    private var last = Part.other

    /// Parts of names, as far as they tell whether a function's mangled name has its return type.
    private enum Part { case arguments, special, other }

    private struct Unreadable: Error {}

    /// The function's name without constraints, parameters and return type, mangled; nil when it cannot be made.
    ///
    /// - Complexity: O(length).
    static func simplified(_ mangled: String) -> String? {
        guard mangled.hasPrefix("_Z"), mangled.utf8.contains(where: { "kQF".utf8.contains($0) }) else { return nil }
        var name = ConstrainedCXXName(text: Array(mangled.utf8))
        guard (try? name.name()) != nil else { return nil }
        name.edits.append((name.position..<name.text.count, name.signature))
        return name.edited
    }

    private init(text: [UInt8]) { self.text = text }

    /// Some parameters, after a return type where the name needs one.
    private var signature: String { last == .arguments ? "vv" : "v" }

    private var edited: String {
        var result = ""
        var end = 0
        for edit in edits {
            result += String(decoding: text[end..<edit.range.lowerBound], as: UTF8.self) + edit.replacement
            end = edit.range.upperBound
        }
        return result + String(decoding: text[end...], as: UTF8.self)
    }

    // MARK: Bytes

    private func peek(_ offset: Int = 0) -> UInt8 { position + offset < text.count ? text[position + offset] : 0 }

    private func isAt(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in word.indices.allSatisfy { peek($0) == word[$0] } }
    }

    private mutating func take(_ word: StaticString) -> Bool {
        guard isAt(word) else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ word: StaticString) throws(Unreadable) {
        if !take(word) { throw Unreadable() }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isUpper(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }

    /// A number or a reference's letters, and `_` behind them.
    private mutating func index() throws(Unreadable) {
        while Self.isDigit(peek()) || Self.isUpper(peek()) { position += 1 }
        try expect("_")
    }

    /// Reads by `body` what is left out of the name.
    private mutating func leaveOut(
        countsReferences: Bool = true, replacement: String = "", _ body: (inout Self) throws(Unreadable) -> Void
    ) throws(Unreadable) {
        let start = position
        leftOut += 1
        try body(&self)
        leftOut -= 1
        guard leftOut == 0 else { return }
        edits.append((start..<position, replacement))
        if countsReferences { lostReferences = true }
    }

    /// Reads by `body` what lies within something else, unless that goes deeper than names do.
    private mutating func inside(_ body: (inout Self) throws(Unreadable) -> Void) throws(Unreadable) {
        depth += 1
        if depth > 500 { throw Unreadable() }
        try body(&self)
        depth -= 1
    }

    private mutating func untilEnd(_ body: (inout Self) throws(Unreadable) -> Void) throws(Unreadable) {
        while !take("E") {
            let start = position
            try body(&self)
            if position == start { throw Unreadable() }
        }
    }

    // MARK: Names

    private mutating func name() throws(Unreadable) {
        depth += 1
        defer { depth -= 1 }
        if depth > 500 { throw Unreadable() }
        if take("N") {
            while take("r") || take("V") || take("K") {}
            if !take("R") { _ = take("O") }
            // A member function may have its object as a parameter.
            _ = take("H")
            while !take("E") { try component() }
        } else if take("Z") {
            try local()
        } else {
            try component()
            if peek() == UInt8(ascii: "I") { try component() }
        }
    }

    /// `Z` was read: something within a function.
    private mutating func local() throws(Unreadable) {
        try name()
        let replacement = signature
        // Whatever the parameters are, what is in the function is told apart by its own name.
        try leaveOut(replacement: replacement) { (self) throws(Unreadable) in
            while self.peek() != UInt8(ascii: "E") {
                if self.take("Q") { try self.expression() } else { try self.type() }
            }
        }
        try expect("E")
        if take("s") { return try discriminator() }
        if take("d") { try index() }
        try name()
        try discriminator()
    }

    private mutating func discriminator() throws(Unreadable) {
        if take("__") { return try index() }
        guard peek() == UInt8(ascii: "_"), Self.isDigit(peek(1)) else { return }
        position += 2
    }

    /// A part of a name: a word, a reference, or template arguments.
    private mutating func component() throws(Unreadable) {
        switch peek() {
        case UInt8(ascii: "I"):
            try templateArguments()
            last = .arguments
        case UInt8(ascii: "S"):
            try substitution()
            last = .other
        case UInt8(ascii: "T") where peek(1) != UInt8(ascii: "k"):
            try templateParameter()
            last = .other
        case UInt8(ascii: "D") where isAt("Dt") || isAt("DT"):
            try type()
            last = .other
        case UInt8(ascii: "M"): position += 1  // a member's initializer, behind its name
        default: try word()
        }
    }

    private mutating func word() throws(Unreadable) {
        last = .other
        _ = take("L")
        if peek() == UInt8(ascii: "F"), Self.isDigit(peek(1)) || peek(1) >= UInt8(ascii: "a") {
            // A friend that is constrained by its class.
            try leaveOut(countsReferences: false) { (self) throws(Unreadable) in self.position += 1 }
        }
        switch peek() {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): try sourceName()
        case UInt8(ascii: "C"):
            last = .special
            position += 1
            if take("I") {
                position += 1
                return try type()
            }
            position += 1
        case UInt8(ascii: "D"):
            if take("DC") { return try untilEnd { (self) throws(Unreadable) in try self.sourceName() } }
            last = .special
            position += 2
        case UInt8(ascii: "U"):
            if take("Ul") {
                try lambda()
            } else {
                try expect("Ut")
                try index()
            }
        default: try operatorName()
        }
        while take("B") { try sourceName() }
    }

    private mutating func operatorName() throws(Unreadable) {
        if take("cv") {
            last = .special
            return try type()
        }
        if take("li") { return try sourceName() }
        guard peek() >= UInt8(ascii: "a"), peek() <= UInt8(ascii: "z"), peek(1) != 0 else { throw Unreadable() }
        position += 2
    }

    private mutating func lambda() throws(Unreadable) {
        try untilEnd { (self) throws(Unreadable) in
            if try self.takeDeclaration(inLambda: true) { return }
            if self.isAt("Q") {
                try self.constraint()
            } else {
                try self.type()
            }
        }
        try index()
        last = .other
    }

    private mutating func sourceName() throws(Unreadable) {
        guard Self.isDigit(peek()) else { throw Unreadable() }
        var length = 0
        while Self.isDigit(peek()) {
            length = length * 10 + Int(peek() - UInt8(ascii: "0"))
            if length > text.count { throw Unreadable() }
            position += 1
        }
        position += length
        if position > text.count { throw Unreadable() }
    }

    private mutating func substitution() throws(Unreadable) {
        try expect("S")
        switch peek() {
        case UInt8(ascii: "t"):
            position += 1
            try word()
        case UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "s"), UInt8(ascii: "i"), UInt8(ascii: "o"),
            UInt8(ascii: "d"):
            position += 1
        default:
            if lostReferences, leftOut == 0 { throw Unreadable() }
            try index()
        }
    }

    private mutating func templateParameter() throws(Unreadable) {
        try expect("T")
        if take("L") { try index() }
        try index()
    }

    // MARK: Template arguments

    private mutating func templateArguments() throws(Unreadable) {
        try expect("I")
        try untilEnd { (self) throws(Unreadable) in try self.templateArgument() }
    }

    private mutating func templateArgument() throws(Unreadable) {
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
    private mutating func takeDeclaration(inLambda: Bool = false) throws(Unreadable) -> Bool {
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

    private mutating func constraint() throws(Unreadable) {
        try leaveOut { (self) throws(Unreadable) in
            try self.expect("Q")
            try self.expression()
        }
    }

    private mutating func literal() throws(Unreadable) {
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

    // MARK: Types

    private mutating func type() throws(Unreadable) {
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

    private mutating func typeOfTwoLetters() throws(Unreadable) {
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

    // MARK: Expressions

    private mutating func expression() throws(Unreadable) {
        try inside { (self) throws(Unreadable) in try self.innerExpression() }
    }

    private mutating func expressions() throws(Unreadable) {
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
