internal import TraceFile
public import TraceSymbols

/// Whose arguments are recorded, as people write it: `FUNC` or `FUNC:name,name`.
public struct ArgumentRequest {
    public let pattern: String
    /// None: all are.
    public let paths: [ArgumentPath]

    /// Why a text is none, a line.
    public struct Invalid: Error, CustomStringConvertible { public let description: String }

    public init(_ text: String) throws(Invalid) {
        guard let colon = Self.colon(in: text) else {
            (pattern, paths) = (text, [])
            return
        }
        pattern = String(text[..<colon])
        paths = try text[text.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false).map {
            (name) throws(Invalid) in
            guard let path = ArgumentPath(String(name)) else {
                throw Invalid(
                    description: "'\(name)' is no argument: names are, and members, as in 'handle:request->path,*count'"
                )
            }
            return path
        }
        if pattern.isEmpty { throw Invalid(description: "--args takes FUNC or FUNC:name,name") }
    }

    /// The last colon that is not one of two, as they stand in C++ names, and is not in a regular expression.
    private static func colon(in text: String) -> String.Index? {
        let start = text.hasPrefix("/") ? text.lastIndex(of: "/")! : text.startIndex
        let colons = text.indices.filter { $0 >= start && text[$0] == ":" }
        return colons.last { index in
            let next = text.index(after: index)
            let isFirst = next < text.endIndex && text[next] == ":"
            return !isFirst && (index == text.startIndex || text[text.index(before: index)] != ":")
        }
    }
}

extension ArgumentRecipe {
    /// - Parameter conditions: on the function's arguments.
    init(_ site: TraceSymbols.ArgumentSite, _ conditions: [(number: Int, condition: FunctionCondition)]) {
        let arguments = site.arguments.prefix(Self.countLimit)
        self.init(
            returnAddress: site.returnAddress, function: site.function,
            layout: ArgumentLayout(arguments.map { ArgumentLayout.Value(name: $0.name, kind: .init($0.kind)) }))
        let told =
            site.returnAddress == TraceSymbols.ArgumentSite.result ? [] : conditions.filter { canTell($0.condition) }
        for (argument, value) in zip(arguments, layout.values) {
            for step in argument.steps { steps.append(step) }
            for (number, condition) in told {
                for comparison in condition.comparisons where comparison.name == argument.name {
                    if let test = comparison.test(of: value.kind) { steps.test(test, for: number) }
                }
            }
        }
        steps.end()
    }

    /// Whether all values are recorded that a condition is about, and can be compared with what it says.
    func canTell(_ condition: FunctionCondition) -> Bool {
        condition.comparisons.allSatisfy { comparison in
            layout.values.contains { $0.name == comparison.name && comparison.test(of: $0.kind) != nil }
        }
    }
}

extension ArgumentLayout.Kind {
    fileprivate init(_ kind: ArgumentKind) {
        switch kind {
        case .signed(let size): self = .signed(Int(size))
        case .unsigned(let size): self = .unsigned(Int(size))
        case .bool(let size): self = .bool(Int(size))
        case .character(let size): self = .character(Int(size))
        case .floating(let size): self = .floating(Int(size))
        case .pointer(let size): self = .pointer(Int(size))
        case .enumeration(let size, let isSigned, let cases):
            let names = cases.sorted { $0.key < $1.key }.map { ($0.value, $0.key) }
            self = .enumeration(Int(size), isSigned: isSigned, cases: Dictionary(names) { first, _ in first })
        case .text: self = .text
        case .wideText(let size): self = .wideText(Int(size))
        case .structure(let count): self = .structure(count)
        case .optimizedOut: self = .optimizedOut
        case .unknown(let reason): self = .unknown(reason.rawValue)
        case .aggregate: self = .aggregate
        }
    }
}

extension ArgumentSteps {
    fileprivate mutating func append(_ step: ArgumentStep) {
        switch step {
        case .register(let number): register(number)
        case .error: error()
        case .constant(let value): constant(value)
        case .address(let value): address(value)
        case .add(let value): add(value)
        case .load(let size): load(size)
        case .bits(let low, let count, let isSigned): bits(low: low, count: count, isSigned: isSigned)
        case .compute(.plus): plus()
        case .compute(.minus): minus()
        case .compute(.and): and()
        case .compute(.or): or()
        case .compute(.shiftLeft): shiftLeft()
        case .compute(.shiftRight): shiftRight()
        case .compute(.times): times()
        case .compute(.xor): xor()
        case .compute(.shiftRightSigned): shiftRightSigned()
        case .giveValue(let size): giveValue(size)
        case .giveMemory(let size): giveMemory(size)
        case .giveString: giveString()
        case .giveText: giveText()
        case .giveSwift: giveSwift()
        case .giveCharacters(let size): giveCharacters(size)
        case .giveWide(let size): giveWide(size)
        }
    }
}
