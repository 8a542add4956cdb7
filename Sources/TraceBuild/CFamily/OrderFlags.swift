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
    static func linker(of compiler: String, _ arguments: [String]) throws(BuildError) -> Linker {
        let option = "-fuse-ld="
        let name: String
        if let wanted = arguments.last(where: { $0.hasPrefix(option) }) {
            name = lastComponent(String(wanted.dropFirst(option.count)))
        } else {
            let found = (try? Subprocess.output([compiler, "-print-prog-name=ld"])) ?? "ld"
            name =
                (try? Subprocess.output([found.split(separator: "\n").first.map(String.init) ?? "ld", "--version"]))
                ?? ""
        }
        if name.contains("lld") || name.contains("LLD") { return .lld }
        if name.contains("gold") { return .gold }
        if name.contains("mold") { throw .linkerWithoutOrder("mold") }
        return .bfd
    }
}
