/// Takes what C++20 adds out of a mangled name, for a demangler that does not know it: libstdc++'s before GCC 13.
///
/// Constraints (`Tk`, `Q`) say which template is meant, and are no part of the name that people say. So they are left out,
/// and with them the parameters, which are not shown either, and whose references count what is left out. A name whose own
/// references do is not read.
///
/// The grammar is section 5.1 of the Itanium C++ ABI (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). Of it, this
/// knows as much as it takes to find where things end.
struct ConstrainedCXXName {
    let text: [UInt8]
    var position = 2
    /// Where identifiers were read: with their lengths, and themselves.
    var identifiers: [(whole: Range<Int>, name: Range<Int>)] = []
    /// What is replaced in `text`, in order, and by what.
    var edits: [(range: Range<Int>, replacement: String)] = []
    /// How many parts around this one are left out.
    var leftOut = 0
    /// Whether something was left out that later references count.
    var lostReferences = false
    /// The names and types within one another that are being read.
    var depth = 0
    /// What the name read last ended with.
    var last = Part.other

    /// Parts of names, as far as they tell whether a function's mangled name has its return type.
    enum Part { case arguments, special, other }

    struct Unreadable: Error {}

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

    /// The name without parameters and return type, and with other identifiers in place of long ones, which come back in order;
    /// nil when there are none, or when it cannot be made.
    ///
    /// - Complexity: O(length).
    static func replacingIdentifiers(
        of mangled: String, from length: Int, by replacement: (Int) -> String
    ) -> (name: String, identifiers: [String])? {
        guard mangled.hasPrefix("_Z") else { return nil }
        var name = ConstrainedCXXName(text: Array(mangled.utf8))
        // What is left out may hold some of the identifiers.
        guard (try? name.name()) != nil, name.edits.isEmpty else { return nil }
        let long = name.identifiers.filter { $0.name.count >= length }
        guard !long.isEmpty, zip(long, long.dropFirst()).allSatisfy({ $0.whole.upperBound <= $1.whole.lowerBound })
        else { return nil }
        name.edits = long.enumerated().map { ($1.whole, replacement($0)) }
        name.edits.append((name.position..<name.text.count, name.signature))
        return (name.edited, long.map { String(decoding: name.text[$0.name], as: UTF8.self) })
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

    // MARK: Names

    mutating func name() throws(Unreadable) {
        try inside { (self) throws(Unreadable) in try self.innerName() }
    }

    private mutating func innerName() throws(Unreadable) {
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

    mutating func operatorName() throws(Unreadable) {
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

    mutating func sourceName() throws(Unreadable) {
        guard Self.isDigit(peek()) else { throw Unreadable() }
        let start = position
        var length = 0
        while Self.isDigit(peek()) {
            length = length * 10 + Int(peek() - UInt8(ascii: "0"))
            if length > text.count { throw Unreadable() }
            position += 1
        }
        position += length
        if position > text.count { throw Unreadable() }
        identifiers.append((start..<position, position - length..<position))
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

    mutating func templateParameter() throws(Unreadable) {
        try expect("T")
        if take("L") { try index() }
        try index()
    }
}
