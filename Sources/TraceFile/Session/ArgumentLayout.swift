internal import CTraceFormat
internal import TraceText

/// What the values are that are recorded of the arguments of a call.
public struct ArgumentLayout: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        // Their sizes are in bytes.
        case signed(Int)
        case unsigned(Int)
        case bool(Int)
        case character(Int)
        case floating(Int)
        case pointer(Int)
        /// Unsigned, and shown to the base of 8 or 16.
        case number(Int, radix: Int)
        case enumeration(Int, isSigned: Bool, cases: [Int64: String])
        case text
        /// Of characters that have so many bytes.
        case wideText(Int)
        /// So many of the values that follow are its members, or members of those. It has no value itself.
        case structure(Int)
        /// Nothing is recorded: it is gone where the function begins.
        case optimizedOut
        /// Nothing is recorded: it is not known where it is, for this reason.
        case unknown(String)
        /// Nothing is recorded: it has parts.
        case aggregate
    }

    public struct Value: Sendable, Hashable {
        public var name: String
        public var kind: Kind

        public init(name: String, kind: Kind) {
            self.name = name
            self.kind = kind
        }
    }

    public var values: [Value]

    public init(_ values: [Value]) { self.values = values }

    // MARK: As text

    /// A line for each value: a letter for the kind, the size in bytes, and behind tabs the name and, for an enumeration,
    /// its cases as `NUMBER=NAME`. Cases that have no room are left out.
    var text: String {
        var lines: [String] = []
        var room = Int(FATHOM_LAYOUT_LIMIT)
        for value in values {
            var line = "\(value.kind.code)\t\(Self.plain(value.name))"
            if case .unknown(let reason) = value.kind { line += "\t\(Self.plain(reason))" }
            room -= line.utf8.count + 1
            if case .enumeration(_, _, let cases) = value.kind {
                for (number, name) in cases.sorted(by: { $0.key < $1.key }) {
                    let entry = "\t\(number)=\(Self.plain(name))"
                    if entry.utf8.count > room { break }
                    room -= entry.utf8.count
                    line += entry
                }
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    private static func plain(_ name: String) -> String {
        String(name.map { $0 == "\t" || $0.isNewline ? " " : $0 }.prefix(200))
    }

    /// Reads ``text``; a kind that is not known ends it, because the size of its values is not known.
    init(text: String) {
        values = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count >= 2, let kind = Kind(code: fields[0], cases: fields.dropFirst(2)) else { return }
            values.append(Value(name: String(fields[1]).visible, kind: kind))
        }
    }
}

extension ArgumentLayout.Kind {
    /// The size of a value, in bytes.
    var size: Int {
        switch self {
        case .signed(let size), .unsigned(let size), .bool(let size), .character(let size), .floating(let size),
            .pointer(let size), .number(let size, _), .enumeration(let size, _, _):
            size
        // Its address, where nobody could read it.
        case .text: 8
        case .wideText, .structure, .optimizedOut, .unknown, .aggregate: 0
        }
    }

    fileprivate var code: String {
        switch self {
        case .signed(let size): "i\(size)"
        case .unsigned(let size): "u\(size)"
        case .bool(let size): "b\(size)"
        case .character(let size): "c\(size)"
        case .floating(let size): "f\(size)"
        case .pointer(let size): "p\(size)"
        case .number(let size, let radix): "\(radix == 8 ? "o" : "x")\(size)"
        case .enumeration(let size, let isSigned, _): "\(isSigned ? "e" : "E")\(size)"
        case .text: "s"
        case .wideText(let size): "w\(size)"
        case .structure(let count): "{\(count)"
        case .optimizedOut, .unknown: "-"
        case .aggregate: "?"
        }
    }

    fileprivate init?(code: Substring, cases: ArraySlice<Substring>) {
        guard let letter = code.first else { return nil }
        if letter == "{" {
            guard let count = Int(code.dropFirst()), count >= 0 else { return nil }
            self = .structure(count)
            return
        }
        let size = Int(code.dropFirst()).flatMap { (1...16).contains($0) ? $0 : nil }
        switch (letter, size) {
        case ("i", let size?): self = .signed(size)
        case ("u", let size?): self = .unsigned(size)
        case ("b", let size?): self = .bool(size)
        case ("c", let size?): self = .character(size)
        case ("f", let size?): self = .floating(size)
        case ("p", let size?): self = .pointer(size)
        case ("o", let size?): self = .number(size, radix: 8)
        case ("x", let size?): self = .number(size, radix: 16)
        case ("e", let size?), ("E", let size?):
            var names: [Int64: String] = [:]
            for entry in cases {
                guard let equals = entry.firstIndex(of: "="), let number = Int64(entry[..<equals]) else { continue }
                names[number] = String(entry[entry.index(after: equals)...]).visible
            }
            self = .enumeration(size, isSigned: letter == "e", cases: names)
        case ("s", nil): self = .text
        case ("w", let size?) where size == 2 || size == 4: self = .wideText(size)
        case ("-", nil): self = cases.first.map { .unknown(String($0).visible) } ?? .optimizedOut
        case ("?", nil): self = .aggregate
        default: return nil
        }
    }
}
