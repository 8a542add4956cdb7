public import TraceText

/// Writes the order of functions as a linker reads it.
public struct OrderFile {
    public enum Linker: String, CaseIterable, Sendable {
        /// LLVM's linker: `--symbol-ordering-file`, a symbol a line.
        case lld
        /// `--section-ordering-file`, a section a line.
        case gold
        /// GNU ld: a script of sections.
        case bfd
    }

    /// A function by all its names.
    public struct Function {
        public var names: [String]

        public init(names: [String]) { self.names = names }
    }

    private let linker: Linker

    public init(for linker: Linker) { self.linker = linker }

    /// How a link takes the file at `path`, in a compiler's words.
    public func flag(path: String) -> String {
        switch linker {
        case .lld: "-fuse-ld=lld -Wl,--symbol-ordering-file=\(path),--no-warn-symbol-ordering"
        case .gold: "-fuse-ld=gold -Wl,--section-ordering-file=\(path)"
        case .bfd: "-Wl,-T,\(path)"
        }
    }

    /// The functions that a file in any of the forms names, in its order. Nil where it is none of these.
    public static func functions(in text: String) -> [Function]? {
        var names: [String] = []
        var seen: Set<String> = []
        let isScript = text.hasPrefix("SECTIONS")
        for line in text.split(separator: "\n") {
            var words = [line.drop { $0 == " " }]
            if isScript {
                guard line.contains("*(") else { continue }
                words = line.split(separator: " ").map { $0.dropFirst(2).dropLast() }
            }
            for var word in words {
                if word.contains(" ") || word.isEmpty { return nil }
                for prefix in [".text.startup.", ".text."] where word.hasPrefix(prefix) {
                    word = word.dropFirst(prefix.count)
                    break
                }
                if seen.insert(String(word)).inserted { names.append(String(word)) }
            }
        }
        return names.isEmpty ? nil : names.map { Function(names: [$0]) }
    }

    public func write(_ functions: some Sequence<Function>, to writer: ByteWriter) {
        switch linker {
        case .lld:
            for function in functions where !writer.isClosed {
                // Any of its names leads to its section.
                writer.write("\(function.names[0])\n")
            }
        case .gold:
            for function in functions where !writer.isClosed {
                for section in OrderFile.sections(of: function) { writer.write("\(section)\n") }
            }
        case .bfd:
            writer.write("SECTIONS\n{\n  .text.ordered :\n  {\n" as StaticString)
            for function in functions where !writer.isClosed {
                let sections = OrderFile.sections(of: function).map { "*(\($0))" }
                writer.write("    \(sections.joined(separator: " "))\n")
            }
            writer.write("  }\n}\nINSERT BEFORE .text;\n" as StaticString)
        }
    }

    /// The sections that compilers put a function into by `-ffunction-sections`: a section is called as one of the function's
    /// names. gcc knows main and what initialises a file to run once, and puts them into others.
    private static func sections(of function: Function) -> [String] {
        function.names.flatMap { name in
            let runsOnce = name == "main" || name.hasPrefix("_GLOBAL__sub_")
            return [".text.\(name)"] + (runsOnce ? [".text.startup.\(name)"] : [])
        }
    }
}
