/// Names, sections 5.1.2 to 5.1.4 of the ABI.
extension CXXMangledName {
    /// A function, or what the compiler makes for one.
    ///
    /// - Parameter isScope: whether the parameters are read and shown, up to an `E`.
    mutating func encoding(isScope: Bool) throws(Unreadable) -> CXXText {
        try inside { (self) throws(Unreadable) in try self.innerEncoding(isScope: isScope) }
    }

    private mutating func innerEncoding(isScope: Bool) throws(Unreadable) -> CXXText {
        if peek() == UInt8(ascii: "T") || isAt("GV") || isAt("GT") {
            let words = try special()
            return CXXText(words + (try encoding(isScope: isScope)).whole)
        }
        let outer = (arguments, given, context, givenContext, lambdas)
        (last, qualifiers, arguments, given, context, lambdas) = (.other, "", [], nil, newContext(), 0)
        givenContext = context
        var result = try name(isFunction: true)
        guard isScope else { return result }
        if peek() != UInt8(ascii: "E"), peek() != UInt8(ascii: "Q") {
            let qualifiers = qualifiers
            // The type of the result, which is not shown.
            if last == .arguments { try constraint { (self) throws(Unreadable) in try self.type() } }
            result.left += try parameters() + qualifiers.utf8
        }
        _ = try takeConstraint()
        (arguments, given, context, givenContext, lambdas) = outer
        return result
    }

    /// What comes before the function that a thunk or the like is for.
    private mutating func special() throws(Unreadable) -> [UInt8] {
        let kinds: [(StaticString, String, offsets: Int)] = [
            ("Th", "non-virtual thunk to ", 1), ("Tv", "virtual thunk to ", 2), ("Tc", "covariant return thunk to ", 0),
            ("TW", "TLS wrapper function for ", 0), ("TH", "TLS init function for ", 0),
            ("GV", "guard variable for ", 0),
        ]
        if take("GT") {
            guard take("t") || isAt("n") else { throw Unreadable() }
            return Array((take("n") ? "non-transaction clone for " : "transaction clone for ").utf8)
        }
        guard let kind = kinds.first(where: { isAt($0.0) }) else { throw Unreadable() }
        position += 2
        var offsets = kind.offsets
        if isAt("h") || isAt("v"), kind.offsets == 0 {
            // A covariant return thunk has two offsets, each of either kind.
            for _ in 0..<2 {
                offsets = take("v") ? 2 : 1
                if offsets == 1 { try expect("h") }
                try skipOffsets(offsets)
            }
        } else {
            try skipOffsets(offsets)
        }
        return Array(kind.1.utf8)
    }

    private mutating func skipOffsets(_ count: Int) throws(Unreadable) {
        for _ in 0..<count {
            _ = take("n")
            _ = try number()
            try expect("_")
        }
    }

    /// - Parameter isFunction: whether template arguments are those that the function's types refer to.
    mutating func name(isFunction: Bool = false) throws(Unreadable) -> CXXText {
        try inside { (self) throws(Unreadable) in
            if self.take("N") { return try self.nested(isFunction) }
            if self.take("Z") { return try self.local(isFunction) }
            return try self.unscoped(isFunction)
        }
    }

    private mutating func nested(_ isFunction: Bool) throws(Unreadable) -> CXXText {
        var qualifiers = ""
        while let letter = ["r", "V", "K"].first(where: { peek() == $0.utf8.first }) {
            qualifiers = [" restrict", " volatile", " const"][letter == "r" ? 0 : letter == "V" ? 1 : 2] + qualifiers
            position += 1
        }
        if take("R") { qualifiers += " &" } else if take("O") { qualifiers += " &&" }
        // A member function may have its object as a parameter.
        _ = take("H")
        var result: CXXText?
        var isRemembered = false
        while !take("E") {
            let isReference = isAt("S"), isParameter = isAt("T")
            result = try component(after: result, isFunction)
            isRemembered = !isReference
            if let result, isRemembered { _ = try remember(result, parameter: isParameter ? parameter : nil) }
            _ = take("M")  // a member's initializer, behind its name
        }
        // The whole is remembered where it is a type.
        if isRemembered { references.removeLast() }
        guard let result else { throw Unreadable() }
        if isFunction { self.qualifiers = qualifiers }
        return result
    }

    /// One more part of a nested name: a word, a reference, or template arguments.
    private mutating func component(after scope: CXXText?, _ isFunction: Bool) throws(Unreadable) -> CXXText {
        switch peek() {
        case UInt8(ascii: "I"):
            guard let scope else { throw Unreadable() }
            return try withArguments(scope, isFunction)
        case UInt8(ascii: "S"):
            guard scope == nil else { throw Unreadable() }
            if isFunction { last = .other }
            return take("St") ? CXXText("std") : try single(try reference())
        case UInt8(ascii: "T"):
            guard scope == nil else { throw Unreadable() }
            if isFunction { last = .other }
            return try single(try templateParameter())
        case UInt8(ascii: "D") where isAt("Dt") || isAt("DT"): return try decltype()
        default: return try word(after: scope, isFunction)
        }
    }

    mutating func withArguments(_ name: CXXText, _ isFunction: Bool = false) throws(Unreadable) -> CXXText {
        let arguments = try templateArguments(isFunction: isFunction)
        if isFunction {
            (self.arguments, context) = (arguments, givenContext)
            // Constructors and conversion operators have no result.
            if last != .special { last = .arguments }
        }
        var result = try single(name)
        // `operator<` and `operator<<` have a blank behind them.
        if result.left.last == UInt8(ascii: "<") { result.left.append(UInt8(ascii: " ")) }
        result.left += [UInt8(ascii: "<")] + (try joined(arguments))
        if result.left.last == UInt8(ascii: ">") { result.left.append(UInt8(ascii: " ")) }
        result.left.append(UInt8(ascii: ">"))
        return try limited(result)
    }

    private mutating func unscoped(_ isFunction: Bool) throws(Unreadable) -> CXXText {
        if isAt("S"), !isAt("St") {
            let template = try reference()
            guard peek() == UInt8(ascii: "I") else { throw Unreadable() }
            return try withArguments(template, isFunction)
        }
        let result = try word(after: take("St") ? CXXText("std") : nil, isFunction)
        guard peek() == UInt8(ascii: "I") else { return result }
        return try withArguments(try remember(result), isFunction)
    }

    /// `Z` was read: something within a function.
    private mutating func local(_ isFunction: Bool) throws(Unreadable) -> CXXText {
        let kept = (last, qualifiers)
        var result = try encoding(isScope: true)
        (last, qualifiers) = kept
        try expect("E")
        result.left += "::".utf8
        if take("s") {
            try discriminator()
            return CXXText(result.left + "string literal".utf8)
        }
        if take("d") {
            let argument = isAt("_") ? 1 : try number() + 2
            try expect("_")
            result.left += "{default arg#\(argument)}::".utf8
        }
        let entity = try name(isFunction: isFunction)
        try discriminator()
        var whole = CXXText(result.left + entity.left)
        whole.base = entity.base
        return try limited(whole)
    }

    private mutating func discriminator() throws(Unreadable) {
        if take("__") {
            _ = try number()
            try expect("_")
        } else if peek() == UInt8(ascii: "_"), Self.isDigit(peek(1)) {
            position += 2
        }
    }

    // MARK: Words

    private mutating func word(after scope: CXXText?, _ isFunction: Bool) throws(Unreadable) -> CXXText {
        if isFunction { last = .other }
        _ = take("L")
        // A friend that is constrained by its class.
        if peek() == UInt8(ascii: "F"), Self.isDigit(peek(1)) || peek(1) >= UInt8(ascii: "a") { position += 1 }
        var name: [UInt8]
        switch peek() {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): name = try sourceName()
        case UInt8(ascii: "C"), UInt8(ascii: "D"):
            if take("DC") {
                var names: [CXXText] = []
                while !take("E") { names.append(CXXText(try sourceName())) }
                name = [UInt8(ascii: "[")] + (try joined(names)) + [UInt8(ascii: "]")]
                break
            }
            guard let scope, !scope.base.isEmpty else { throw Unreadable() }
            if isFunction { last = .special }
            name = (peek() == UInt8(ascii: "D") ? [UInt8(ascii: "~")] : []) + scope.base
            position += 1
            let isInherited = take("I")
            guard Self.isDigit(peek()) else { throw Unreadable() }
            position += 1
            if isInherited { _ = try type() }
        case UInt8(ascii: "U"):
            if take("Ul") {
                name = try lambda()
            } else {
                try expect("Ut")
                name = Array("{unnamed type#\(try index() + 1)}".utf8)
            }
        default: name = try operatorName(isFunction)
        }
        let base = name
        while take("B") { name += "[abi:".utf8 + (try sourceName()) + [UInt8(ascii: "]")] }
        var result = CXXText(scope.map { $0.left + "::".utf8 + name } ?? name)
        result.base = base
        return try limited(result)
    }

    private mutating func lambda() throws(Unreadable) -> [UInt8] {
        lambdas += 1
        let outer = (context, givenContext)
        (context, givenContext) = (0, 0)
        defer {
            lambdas -= 1
            (context, givenContext) = outer
        }
        var types: [CXXText] = []
        while !take("E") {
            if isAt("T"), "yknpt".utf8.contains(peek(1)) {
                let isConstraint = isAt("Tk")
                try declaration()
                // A constraint with no parameter behind it stands for `auto`.
                if isConstraint, peek() == UInt8(ascii: "E") { types.append(CXXText("auto")) }
            } else if try !takeConstraint() {
                types.append(try singleType())
            }
        }
        let parameters = types.count == 1 && types[0].whole.elementsEqual("void".utf8) ? [] : try joined(types)
        return "{lambda(".utf8 + parameters + ")#\(try index() + 1)}".utf8
    }

    mutating func sourceName() throws(Unreadable) -> [UInt8] {
        guard Self.isDigit(peek()) else { throw Unreadable() }
        let length = try number()
        guard length > 0, length <= text.count - position else { throw Unreadable() }
        let name = text[position..<position + length]
        position += length
        // `_GLOBAL__N_1`, where other letters stand for the underscore before N on some systems.
        let isAnonymous =
            length >= 10 && name.starts(with: "_GLOBAL_".utf8) && name.dropFirst(9).first == UInt8(ascii: "N")
        return isAnonymous ? Array("(anonymous namespace)".utf8) : Array(name)
    }

    mutating func operatorName(_ isFunction: Bool = false) throws(Unreadable) -> [UInt8] {
        if take("cv") {
            guard isFunction else { return "operator ".utf8 + (try singleType()).whole }
            last = .special
            // The operator's own arguments come behind the type that refers to them. The class's do not stand for them.
            let outer = (arguments, given)
            defer { (arguments, given) = outer }
            (arguments, given) = ([], [])
            return "operator ".utf8 + (try singleType()).whole
        }
        if take("li") { return "operator\"\" ".utf8 + (try sourceName()) }
        guard let symbol = Self.operators[String(decoding: [peek(), peek(1)], as: UTF8.self)] else {
            throw Unreadable()
        }
        position += 2
        return Array((symbol.first!.isLetter ? "operator " : "operator").utf8) + symbol.utf8
    }

    static let operators: [String: String] = [
        "nw": "new", "na": "new[]", "dl": "delete", "da": "delete[]", "aw": "co_await", "ps": "+", "ng": "-", "ad": "&",
        "de": "*", "co": "~", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^",
        "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=",
        "ls": "<<", "rs": ">>", "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
        "ge": ">=", "ss": "<=>", "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*",
        "pt": "->", "cl": "()", "ix": "[]", "qu": "?",
    ]

    // MARK: References

    /// `S_` and the like, and what has letters of its own.
    mutating func reference() throws(Unreadable) -> CXXText {
        try expect("S")
        let known: [UInt8: (String, base: String)] = [
            UInt8(ascii: "a"): ("std::allocator", "allocator"),
            UInt8(ascii: "b"): ("std::basic_string", "basic_string"),
            UInt8(ascii: "s"): ("std::string", "string"), UInt8(ascii: "i"): ("std::istream", "istream"),
            UInt8(ascii: "o"): ("std::ostream", "ostream"), UInt8(ascii: "d"): ("std::iostream", "iostream"),
        ]
        if let (name, base) = known[peek()] {
            position += 1
            var result = CXXText(name)
            // Constructors have the name of the template.
            let template = "basic_\(base)"
            if "siod".utf8.contains(text[position - 1]), isAt("C") || isAt("D") {
                let allocator = text[position - 1] == UInt8(ascii: "s") ? ", std::allocator<char>" : ""
                result = CXXText("std::\(template)<char, std::char_traits<char>\(allocator) >")
                result.base = Array(template.utf8)
                return result
            }
            result.base = Array(base.utf8)
            return result
        }
        let index = try index(base: 36)
        guard references.indices.contains(index) else { throw Unreadable() }
        return try resolved(references[index])
    }

    mutating func templateParameter() throws(Unreadable) -> CXXText {
        try expect("T")
        // A template's parameter that is a template has parameters of its own.
        let isInner = take("L")
        if isInner { _ = try index() }
        parameter = try index()
        if isInner, lambdas == 0 { parameter = .max }
        return try argument(parameter)
    }

    /// What the template parameter of this number stands for.
    func argument(_ parameter: Int) throws(Unreadable) -> CXXText {
        if lambdas > 0 {
            guard parameter < .max else { throw Unreadable() }
            return CXXText([Self.parameterMark] + "auto:\(parameter + 1)".utf8)
        }
        let arguments = constraints > 0 ? given ?? arguments : arguments
        if arguments.indices.contains(parameter) {
            var argument = arguments[parameter].each { text in
                var text = text
                if text.left.first != Self.parameterMark { text.left.insert(Self.parameterMark, at: 0) }
                return text
            }
            if argument.elements != nil { argument.left = [Self.parameterMark] }
            // A pack's elements are to stand here only where its name is the pattern that is repeated.
            argument.isExpanded = false
            return argument
        }
        guard constraints > 0 else { throw Unreadable() }
        return CXXText([Self.parameterMark] + Self.unknownText.left)
    }
}
