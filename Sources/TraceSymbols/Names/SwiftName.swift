/// What a Swift linkage name tells of its function: the name that people read, and whether people wrote the function.
///
/// Specialisations and thunks, which the compiler makes of a function, have that function's name.
public struct SwiftName: Sendable, Equatable {
    /// How a function came to be.
    public enum Kind: Sendable, Equatable {
        /// It is in the source, or the language demands it: an accessor, a derived `==`.
        case written
        /// A version of a written one with other parameters: specialised, or continued after a suspension.
        case variant
        /// Leads to a written one: a protocol witness, a partial application, an allocating initializer. The optimiser may
        /// have put what it leads to into it.
        case thunk
        /// Part of how the language works: metadata accessors, value witnesses, outlined copies, reabstraction.
        case compilerMade
    }

    /// `Parser.parse(_:)`, `static Point.==(_:_:)`, `closure #1 in total(_:)`; without modules, generic arguments and types.
    public var name: String
    public var kind: Kind
    /// The declaration in full: the same for all versions of a function, and for no other function of its module.
    public private(set) var identity: String?
    /// The identity that all parts of a function that may suspend share.
    public private(set) var whole: String?
    /// Whether it is a part that a function that may suspend goes on with.
    private var isAsyncPart = false

    /// - Returns: nil when `linkageName` is no Swift name.
    public init?(_ linkageName: String) {
        if linkageName.hasPrefix(Self.asynchronousMain) {
            let isContinued = SwiftAsyncPart.stem(of: linkageName) == Self.asynchronousMain
            guard isContinued || linkageName == Self.asynchronousMain else { return nil }
            self.init(name: "main", identity: Self.asynchronousMain, isContinued: isContinued)
            return
        }
        if linkageName.hasPrefix("__swift_")
            || Self.blockHelpers.contains(where: { linkageName == $0 || linkageName.hasPrefix($0 + ".") })
        {
            self.init(name: linkageName, kind: .compilerMade)
            return
        }
        guard Self.prefixes.contains(where: linkageName.hasPrefix) else { return nil }
        // LLVM appends words to names. The `.resume.0` of a coroutine is code of its own, while `.cold` and
        // `.llvm.1234` belong to the function.
        let stem = linkageName.prefix { $0 != "." }
        guard let text = demangleSwift(String(stem)), text != stem else { return nil }
        self.init(demangled: text)
        name = SwiftMacroName.spelt(name)
        if kind != .compilerMade, linkageName.dropFirst(stem.count).hasPrefix(".resume.") {
            name += Self.continuation
            identity? += Self.continuation
            kind = .variant
        }
    }

    init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// Whether this thunk stands for `other`, because both have the same name or, when a protocol's extension meets the
    /// requirement, the same member name.
    public func leads(to other: SwiftName) -> Bool {
        kind == .thunk && other.kind != .compilerMade
            && (name == other.name || Self.member(name) == Self.member(other.name))
    }

    /// The part of a name behind the type: `area()`, `count.getter`.
    private static func member(_ name: String) -> Substring {
        let stem = name.prefix { $0 != "(" }
        let dots = stem.indices.filter { stem[$0] == "." }
        let depth = stem.hasSuffix(".getter") || stem.hasSuffix(".setter") || stem.hasSuffix(".modify") ? 2 : 1
        return dots.count >= depth ? name[dots[dots.count - depth]...] : name[...]
    }

    private static let prefixes = ["$s", "_$s", "$S", "_$S", "_T0"]
    /// The function that holds the code of main.swift when that awaits. In a program with `@main` it calls that type's
    /// `main()`.
    private static let asynchronousMain = "async_Main"
    /// Helpers of a closure that C holds as a block, as Dispatch does.
    private static let blockHelpers = ["block_copy_helper", "block_destroy_helper"]
    private static let continuation = " (resumed)"

    /// - Parameter text: what `swift_demangle` returns.
    init(demangled text: String) {
        var rest = text[...]
        var kind = Kind.written
        var isContinued = false
        while true {
            if let number = rest.firstIndex(of: ")"), rest.hasPrefix("("),
                let form = Self.continuations.first(where: { rest[number...].dropFirst(2).hasPrefix($0) })
            {
                rest = rest[number...].dropFirst(2 + form.count)
                isContinued = true
            } else if let form = Self.variants.first(where: rest.hasPrefix), let start = Self.endOfVariant(rest, form) {
                rest = rest[start...]
                if kind != .thunk { kind = .variant }
            } else if let form = Self.thunks.first(where: rest.hasPrefix) {
                rest = rest.dropFirst(form.count)
                kind = .thunk
            } else {
                break
            }
        }
        if rest.hasPrefix("reabstraction thunk "),
            text[...].end(of: "[Constant Propagated Function : \(Self.asynchronousMain)]") != nil
        {
            // The program's main task begins with this thunk, and all of main.swift may have been inlined into it.
            self.init(name: "main", kind: .thunk, identity: Self.asynchronousMain, isContinued: isContinued)
            return
        }
        if Self.compilerMade.contains(where: rest.hasPrefix) || rest.end(of: " value witness for ") != nil
            || rest.hasSuffix(".unsafeMutableAddressor") || rest.end(of: ".unsafeMutableAddressor : ") != nil
        {
            self.init(name: String(rest), kind: .compilerMade)
            return
        }
        let declaration = SwiftDeclaration(rest, isWitness: text.contains("protocol witness for "))
        if declaration.isAllocation { kind = .thunk }
        self.init(name: declaration.name, kind: kind, identity: String(rest), isContinued: isContinued)
    }

    /// A function of the program, or a part of one that has suspended.
    private init(name: String, kind: Kind = .written, identity: String, isContinued: Bool) {
        self.init(
            name: isContinued ? name + Self.continuation : name, kind: isContinued && kind == .written ? .variant : kind
        )
        self.identity = isContinued ? identity + Self.continuation : identity
        whole = identity
        isAsyncPart = isContinued
    }

    /// The whole function, if this is a part of one that may suspend; otherwise this one itself.
    var asWhole: SwiftName {
        guard isAsyncPart else { return self }
        var result = self
        result.name.removeLast(Self.continuation.count)
        result.identity = whole
        return result
    }

    /// In the linkage name of a version that takes its parameters in another way, stands between the function's linkage
    /// name and how it takes them (docs/ABI/Mangling.rst of Swift, function signature specialization).
    static let respecialized = "Tf4"

    /// Whether the function `linkageName`, which has this name, calls `callee` and does no more.
    ///
    /// When the compiler makes a version of a function that takes its parameters in another way, the function itself
    /// becomes a call of that version. It does not when the version is for a certain closure (`c`) or constant (`p`).
    func onlyLeads(to callee: String, from linkageName: String) -> Bool {
        if callee.hasPrefix(linkageName + Self.respecialized) {
            let changes = callee.dropFirst(linkageName.count + Self.respecialized.count).prefix { $0 != "_" }
            return !changes.contains("c") && !changes.contains("p")
        }
        return kind == .thunk && SwiftName(callee).map { leads(to: $0) } == true
    }

    /// This name as one that the compiler made for itself. A function that only leads to another is not one of that
    /// function's versions.
    var asCompilerMade: SwiftName { SwiftName(name: name, kind: .compilerMade) }

    private static let continuations = ["await resume partial function for ", "suspend resume partial function for "]
    private static let variants = [
        "generic ", "function signature specialization <", "inlined generic function ", "merged ", "noinline ",
    ]
    private static let thunks = [
        "protocol witness for ", "partial apply forwarder for ", "curry thunk of ", "vtable thunk for ", "@objc ",
        "protocol self-conformance witness for ", "back deployment thunk for ", "distributed thunk ",
        "dispatch thunk of ", "partial apply ",
    ]
    private static let compilerMade = [
        "outlined ", "type metadata ", "lazy ", "reabstraction thunk ", "associated type ", "base witness table ",
        "associated conformance ", "protocol witness table ", "generic protocol witness table ",
        "instantiation function ",
        "type metadata accessor ", "metaclass ", "nominal type ", "default associated ",
        "canonical specialized generic ",
        "completion function ", "block ", "identity witness ", "one-time initialization token ",
        "variable initialization expression of ", "coroutine continuation prototype ", "method lookup function ",
        "key path ", "autodiff ", "keypath_get", "keypath_set", "get_type_metadata",
    ]

    /// The index at which the name of the function starts that `text`, a variant of the kind `form`, was made of.
    private static func endOfVariant(_ text: Substring, _ form: String) -> String.Index? {
        // Brackets need not match where a specialisation names its closures.
        if form.hasSuffix("<") { return text.end(of: "> of ") }
        if form == "merged " || form == "noinline " { return text.index(text.startIndex, offsetBy: form.count) }
        var scanner = BracketScanner(text)
        return scanner.end(of: " of ")
    }
}
