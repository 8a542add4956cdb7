/// Types, section 5.1.5 of the ABI.
extension CXXMangledName {
    mutating func type() throws(Unreadable) -> CXXText {
        try inside { (self) throws(Unreadable) in try self.limited(try self.innerType()) }
    }

    private mutating func innerType() throws(Unreadable) -> CXXText {
        switch peek() {
        case UInt8(ascii: "r"), UInt8(ascii: "V"), UInt8(ascii: "K"):
            var marks = ""
            while let mark = Self.qualifiers[peek()] {
                marks = mark + marks
                position += 1
            }
            let type = isFunctionType ? try functionType() : try type()
            return try remember(type.marked(marks))
        case UInt8(ascii: "P"):
            position += 1
            return try remember(try type().marked("*"))
        case UInt8(ascii: "R"), UInt8(ascii: "O"):
            let mark = peek() == UInt8(ascii: "R") ? "&" : "&&"
            position += 1
            return try remember(try type().referenced(mark))
        case UInt8(ascii: "C"), UInt8(ascii: "G"):
            let word = peek() == UInt8(ascii: "C") ? " _Complex" : " _Imaginary"
            position += 1
            return try remember(try type().marked(word))
        case UInt8(ascii: "F"): return try remember(try functionType())
        case UInt8(ascii: "A"): return try remember(try array())
        case UInt8(ascii: "M"): return try remember(try memberPointer())
        case UInt8(ascii: "D"): return try typeOfTwoLetters()
        case UInt8(ascii: "U") where !isAt("Ul") && !isAt("Ut"):
            position += 1
            var word = CXXText([UInt8(ascii: " ")] + (try sourceName()))
            if peek() == UInt8(ascii: "I") { word = try withArguments(word) }
            return try remember(try type().marked(String(decoding: word.left, as: UTF8.self)))
        case UInt8(ascii: "u"):
            position += 1
            var word = CXXText(try sourceName())
            if peek() == UInt8(ascii: "I") { word = try withArguments(word) }
            return try remember(word)
        case UInt8(ascii: "T"):
            if "sue".utf8.contains(peek(1)) {
                position += 2
                return try remember(try name())
            }
            let argument = try templateParameter()
            let parameter = try remember(argument, parameter: parameter)
            return peek() == UInt8(ascii: "I") ? try remember(try withArguments(parameter)) : parameter
        case UInt8(ascii: "S") where !isAt("St"):
            let known = try reference()
            return peek() == UInt8(ascii: "I") ? try remember(try withArguments(known)) : known
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
            guard let name = Self.builtins[peek()] else { throw Unreadable() }
            position += 1
            return CXXText(name)
        default: return try remember(try name())
        }
    }

    private static let qualifiers: [UInt8: String] = [
        UInt8(ascii: "r"): " restrict", UInt8(ascii: "V"): " volatile", UInt8(ascii: "K"): " const",
    ]

    static let builtins: [UInt8: String] = [
        UInt8(ascii: "v"): "void", UInt8(ascii: "w"): "wchar_t", UInt8(ascii: "b"): "bool", UInt8(ascii: "c"): "char",
        UInt8(ascii: "a"): "signed char", UInt8(ascii: "h"): "unsigned char", UInt8(ascii: "s"): "short",
        UInt8(ascii: "t"): "unsigned short", UInt8(ascii: "i"): "int", UInt8(ascii: "j"): "unsigned int",
        UInt8(ascii: "l"): "long", UInt8(ascii: "m"): "unsigned long", UInt8(ascii: "x"): "long long",
        UInt8(ascii: "y"): "unsigned long long", UInt8(ascii: "n"): "__int128", UInt8(ascii: "o"): "unsigned __int128",
        UInt8(ascii: "f"): "float", UInt8(ascii: "d"): "double", UInt8(ascii: "e"): "long double",
        UInt8(ascii: "g"): "__float128", UInt8(ascii: "z"): "...",
    ]

    private var isFunctionType: Bool { isAt("F") || isAt("DoF") || isAt("DOF") || isAt("DwF") || isAt("DxF") }

    private mutating func functionType() throws(Unreadable) -> CXXText {
        var suffix = ""
        if take("Do") {
            suffix = " noexcept"
        } else if take("DO") {
            suffix = " noexcept(\(String(decoding: try expression(), as: UTF8.self)))"
            try expect("E")
        } else if take("Dw") {
            var types: [CXXText] = []
            while !take("E") { types.append(try singleType()) }
            suffix = " throw(\(String(decoding: try joined(types), as: UTF8.self)))"
        }
        if take("Dx") { suffix = " transaction_safe" + suffix }
        try expect("F")
        _ = take("Y")
        let result = try singleType()
        let list = try parameters()
        if take("R") { suffix = " &" + suffix } else if take("O") { suffix = " &&" + suffix }
        try expect("E")
        // What returns a function pointer has its parameters inside that: `void (*(int))(char)`.
        if result.shape == .wrapped {
            return CXXText(result.left, right: list + suffix.utf8 + result.right, shape: .function)
        }
        return CXXText(result.whole + [UInt8(ascii: " ")], right: list + suffix.utf8, shape: .function)
    }

    /// Parameters' types up to an `E` or a constraint, in brackets.
    mutating func parameters() throws(Unreadable) -> [UInt8] {
        var types: [CXXText] = []
        while peek() != UInt8(ascii: "E"), peek() != UInt8(ascii: "Q"), !isAt("RE"), !isAt("OE") {
            types.append(try singleType())
        }
        let isEmpty = types.count == 1 && types[0].whole.elementsEqual("void".utf8)
        return [UInt8(ascii: "(")] + (isEmpty ? [] : try joined(types)) + [UInt8(ascii: ")")]
    }

    private mutating func array() throws(Unreadable) -> CXXText {
        try expect("A")
        var size: [UInt8] = []
        if Self.isDigit(peek()) {
            size = Array("\(try number())".utf8)
        } else if peek() != UInt8(ascii: "_") {
            size = try expression()
        }
        try expect("_")
        let bounds = [UInt8(ascii: "[")] + size + [UInt8(ascii: "]")]
        return try type().each { element in
            if element.shape == .plain {
                return CXXText(element.left + [UInt8(ascii: " ")], right: bounds, shape: .array)
            }
            var array = element
            if element.shape == .array {
                array.right = bounds + element.right
            } else {
                array.left.append(UInt8(ascii: " "))
                array.right = bounds + element.right
                array.shape = .array
            }
            return array
        }
    }

    private mutating func memberPointer() throws(Unreadable) -> CXXText {
        try expect("M")
        let owner = String(decoding: try singleType().whole, as: UTF8.self)
        let member = try singleType()
        return member.shape == .plain || member.shape == .wrapped
            ? member.marked(" \(owner)::*") : member.marked("\(owner)::*")
    }

    private mutating func typeOfTwoLetters() throws(Unreadable) -> CXXText {
        if isFunctionType || isAt("DO") || isAt("Do") || isAt("Dw") || isAt("Dx") {
            return try remember(try functionType())
        }
        if isAt("Dt") || isAt("DT") { return try remember(try decltype()) }
        let kind = peek(1)
        position += 2
        switch kind {
        case UInt8(ascii: "p"):
            var pattern = try type()
            if pattern.elements == nil { return try remember(pattern.marked("...")) }
            pattern.isExpanded = true
            return try remember(pattern)
        case UInt8(ascii: "v"):
            var size: [UInt8]
            if take("_") { size = try expression() } else { size = Array("\(try number())".utf8) }
            try expect("_")
            size = " __vector(".utf8 + size + [UInt8(ascii: ")")]
            return try remember(try type().marked(String(decoding: size, as: UTF8.self)))
        case UInt8(ascii: "F"):
            let size = try number()
            if take("b") { return CXXText("std::bfloat16_t") }
            let isExtended = take("x")
            if !isExtended { try expect("_") }
            return CXXText("_Float\(size)\(isExtended ? "x" : "")")
        case UInt8(ascii: "B"), UInt8(ascii: "U"):
            let size = Self.isDigit(peek()) ? Array("\(try number())".utf8) : try expression()
            try expect("_")
            let word = kind == UInt8(ascii: "B") ? "signed _BitInt(" : "unsigned _BitInt("
            return CXXText(word.utf8 + size + [UInt8(ascii: ")")])
        default:
            guard let name = Self.builtinsOfTwoLetters[kind] else { throw Unreadable() }
            return CXXText(name)
        }
    }

    private static let builtinsOfTwoLetters: [UInt8: String] = [
        UInt8(ascii: "n"): "decltype(nullptr)", UInt8(ascii: "a"): "auto", UInt8(ascii: "c"): "decltype(auto)",
        UInt8(ascii: "i"): "char32_t", UInt8(ascii: "s"): "char16_t", UInt8(ascii: "u"): "char8_t",
        UInt8(ascii: "d"): "decimal64", UInt8(ascii: "e"): "decimal128", UInt8(ascii: "f"): "decimal32",
        UInt8(ascii: "h"): "half",
    ]

    mutating func decltype() throws(Unreadable) -> CXXText {
        position += 2
        let expression = try expression()
        try expect("E")
        return CXXText("decltype (".utf8 + expression + [UInt8(ascii: ")")])
    }
}
