internal import Glibc

/// What lays functions out in an order, for the compiler and for whichever linker it uses.
struct OrderFlags {
    /// A directory with the order as each linker reads it; see ``BuildOptions/order``.
    let directory: String

    /// Gives each function a section of its own, which a linker can move.
    static let sections = "-ffunction-sections"

    /// What linkers read orders.
    enum Linker: String, CaseIterable { case lld, gold, bfd }

    func file(_ linker: Linker) -> String { "\(directory)/order.\(linker.rawValue)" }

    /// What the linker is asked for, in words of the linker.
    func words(_ linker: Linker) -> [String] {
        switch linker {
        case .lld: ["--symbol-ordering-file=\(file(.lld))", "--no-warn-symbol-ordering"]
        case .gold: ["--section-ordering-file=\(file(.gold))"]
        case .bfd: ["-T", file(.bfd)]
        }
    }

    /// The linker that a compiler uses.
    ///
    /// - Parameter arguments: what the compiler is called with.
    /// - Throws: ``BuildError/linkerWithoutOrder(_:)`` for one that reads no order.
    static func linker(of compiler: Compiler, _ arguments: [String]) throws(BuildError) -> Linker {
        let name = called(by: compiler, arguments), version = (try? Subprocess.output([name, "--version"])) ?? ""
        for text in [version, lastComponent(name)] {
            if text.contains("lld") || text.contains("LLD") { return .lld }
            if text.contains("gold") { return .gold }
            if text.contains("mold") { throw .linkerWithoutOrder("mold") }
            if text.contains("GNU ld") { return .bfd }
        }
        return .bfd
    }

    /// The linker's path, or its name where the compiler searches for it.
    private static func called(by compiler: Compiler, _ arguments: [String]) -> String {
        if compiler.family == .clang {
            // A toolchain may have any default. The last command that clang would run is the link; its words are quoted.
            let plan = (try? Subprocess.output([compiler.path, "-###"] + arguments, of: STDERR_FILENO)) ?? ""
            let link = plan.split(separator: "\n").last { $0.hasPrefix(" \"") }
            if let path = link?.dropFirst(2).prefix(while: { $0 != "\"" }), path.contains("ld") { return String(path) }
        }
        let option = "-fuse-ld="
        if let wanted = arguments.last(where: { $0.hasPrefix(option) })?.dropFirst(option.count) {
            return wanted.hasPrefix("/") ? String(wanted) : "ld.\(wanted)"
        }
        let directories = arguments.filter { $0.hasPrefix("-B") && $0.count > 2 }
        let found = (try? Subprocess.output([compiler.path] + directories + ["-print-prog-name=ld"])) ?? ""
        return found.split(separator: "\n").first.map(String.init) ?? "ld"
    }
}
