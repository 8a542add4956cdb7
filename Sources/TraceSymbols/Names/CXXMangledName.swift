/// Reads mangled C++ names that the C++ library does not: those of 1024 bytes and more, and, before GCC 13, those with C++20's
/// constraints.
///
/// What comes out is what libstdc++ says, without a function's return type and parameters. Constraints (`Tk`, `Q`) say which
/// template is meant, are no part of the name that people say, and are left out.
///
/// The grammar is section 5.1 of the Itanium C++ ABI (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). A mangled name
/// refers to its earlier parts, so that it may stand for a text of any length. One beyond `longest` is not read, nor one whose
/// parts are beyond `most` together.
struct CXXMangledName {
    let text: [UInt8]
    var position = 2
    /// What `S_`, `S0_` … refer to.
    var references: [Reference] = []
    /// What `T_`, `T0_` … refer to.
    var arguments: [CXXText] = []
    /// What they refer to within constraints: the arguments that were read so far of the template whose name is being read.
    var given: [CXXText]?
    /// Which function's arguments `T_` stands for, and which while they are being read; 0 in lambdas' parameters.
    var context = 0, givenContext = 0
    private var contexts = 0
    /// The number of the template parameter that was read last.
    var parameter = 0
    /// The names and types within one another that are being read.
    var depth = 0
    /// How many lambdas' parameters the reading is in.
    var lambdas = 0
    /// How many constraints, or other parts that are only skipped, the reading is in. They may name arguments that come later.
    var constraints = 0
    /// What the function's name that was read last ended with.
    var last = Part.other
    /// What stands behind the parameters of the function whose name was read last: ` const`.
    var qualifiers = ""

    /// Parts of names, as far as they tell whether a function's mangled name has its return type.
    enum Part { case arguments, special, other }

    /// How long all texts were that have been made, in bytes.
    private var made = 0

    /// What was read, and may be referred to.
    struct Reference {
        let text: CXXText
        let context: Int
        /// The number of the template parameter that this is.
        let parameter: Int?
    }

    struct Unreadable: Error {}

    /// In bytes.
    private static let longest = 1 << 18
    /// In bytes, which bounds the memory and the time that a name takes.
    private static let most = 1 << 28
    /// Stands in texts for what is not known, such as an argument that comes later. No name that has it is shown.
    private static let unknown: UInt8 = 0
    /// Stands in texts before what a template parameter stands for, which is something else in another context.
    static let parameterMark: UInt8 = 1
    /// Compilers stop at 900 to 1024 templates within one another. Each takes a name and a type.
    private static let deepest = 4096

    /// The function's name; nil when it cannot be read.
    ///
    /// - Complexity: O(length of the result × depth of template arguments).
    static func readable(_ mangled: String) -> String? {
        guard mangled.hasPrefix("_Z"), mangled.utf8.allSatisfy({ $0 > UInt8(ascii: " ") }) else { return nil }
        var name = CXXMangledName(text: Array(mangled.utf8))
        guard let text = try? name.encoding(isScope: false), name.isAtParameters else { return nil }
        let whole = text.whole.filter { $0 != parameterMark }
        return whole.contains(unknown) ? nil : String(decoding: whole, as: UTF8.self)
    }

    private init(text: [UInt8]) { self.text = text }

    /// Whether what comes next may be a function's parameters, which are not read, or what compilers append to a name.
    private var isAtParameters: Bool {
        let next = peek()
        return position >= text.count || next == UInt8(ascii: ".") || CXXScanner.isIdentifier(next)
    }

    /// Reads what lies within something else by `body`, unless that goes deeper than names do.
    mutating func inside<T>(_ body: (inout Self) throws(Unreadable) -> T) throws(Unreadable) -> T {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.deepest { throw Unreadable() }
        return try body(&self)
    }

    /// - Throws: when the text is longer than anybody would read, or all texts together are.
    mutating func limited(_ text: CXXText) throws(Unreadable) -> CXXText {
        try count(text.count)
        return text
    }

    /// - Throws: as `limited` does, for a text of `length` bytes.
    mutating func count(_ length: Int) throws(Unreadable) {
        made += length
        if length > Self.longest || made > Self.most { throw Unreadable() }
    }

    /// The texts with `, ` between them.
    ///
    /// - Throws: when that is longer than anybody would read.
    func joined(_ texts: [CXXText]) throws(Unreadable) -> [UInt8] {
        var length = 0
        for text in texts {
            length += text.count
            if length > Self.longest { throw Unreadable() }
        }
        return texts.joined
    }

    /// Keeps the text for later references to it.
    mutating func remember(_ text: CXXText, parameter: Int? = nil) throws(Unreadable) -> CXXText {
        references.append(Reference(text: try limited(text), context: currentContext, parameter: parameter))
        return text
    }

    /// What the reference stands for here. A template parameter stands for another argument in another context.
    ///
    /// - Throws: when it has such a parameter in it.
    func resolved(_ reference: Reference) throws(Unreadable) -> CXXText {
        if let parameter = reference.parameter { return try argument(parameter) }
        if reference.context != currentContext, reference.text.contains(Self.parameterMark) { throw Unreadable() }
        return reference.text
    }

    private var currentContext: Int { constraints > 0 ? givenContext : context }

    mutating func newContext() -> Int {
        contexts += 1
        return contexts
    }

    /// The text, where it has to stand for one thing.
    ///
    /// A pack's name alone is part of a pattern that is to be repeated (`std::vector<T>...`), which this does not do.
    ///
    /// - Throws: when it is that of a pack, unless it is only skipped.
    func single(_ text: CXXText) throws(Unreadable) -> CXXText {
        guard text.elements != nil, !text.isExpanded else { return text }
        guard constraints > 0 else { throw Unreadable() }
        return Self.unknownText
    }

    static var unknownText: CXXText { CXXText([unknown]) }

    /// A type that has to be one.
    mutating func singleType() throws(Unreadable) -> CXXText { try single(try type()) }

    // MARK: Bytes

    func peek(_ offset: Int = 0) -> UInt8 { position + offset < text.count ? text[position + offset] : 0 }

    func isAt(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in word.indices.allSatisfy { peek($0) == word[$0] } }
    }

    mutating func take(_ word: StaticString) -> Bool {
        guard isAt(word) else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    mutating func expect(_ word: StaticString) throws(Unreadable) {
        if !take(word) { throw Unreadable() }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// A decimal number; 0 where there is none.
    mutating func number() throws(Unreadable) -> Int {
        var value = 0
        while Self.isDigit(peek()) {
            value = value * 10 + Int(peek() - UInt8(ascii: "0"))
            if value > 1 << 32 { throw Unreadable() }
            position += 1
        }
        return value
    }

    /// `_` is 0, `0_` is 1: a number of this base, which has capital letters above 9.
    mutating func index(base: Int = 10) throws(Unreadable) -> Int {
        if take("_") { return 0 }
        var value = 0
        while !take("_") {
            let digit =
                switch peek() {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(peek() - UInt8(ascii: "0"))
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(peek() - UInt8(ascii: "A")) + 10
                default: base
                }
            if digit >= base || value > 1 << 32 { throw Unreadable() }
            value = value * base + digit
            position += 1
        }
        return value + 1
    }
}
