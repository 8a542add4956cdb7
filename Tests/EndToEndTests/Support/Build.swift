import TestSupport
import Testing

/// One way to build a program to trace.
struct Build: Sendable, Hashable, CustomTestStringConvertible {
    enum Compiler: String, Sendable { case gcc, clang }

    var compiler: Compiler
    /// The optimisation level, as in `-O2`.
    var level: Int

    static let gccO0 = Build(compiler: .gcc, level: 0)
    static let gccO2 = Build(compiler: .gcc, level: 2)
    static let clangO0 = Build(compiler: .clang, level: 0)
    static let clangO2 = Build(compiler: .clang, level: 2)

    static let all = [gccO0, gccO2, clangO0, clangO2]
    static let two = [gccO2, clangO0]

    var testDescription: String { "\(compiler.rawValue) -O\(level)" }

    /// The compiler for that source's language.
    func command(for source: String) -> String {
        guard source.hasSuffix(".cpp") else { return compiler.rawValue }
        return compiler == .gcc ? "g++" : "clang++"
    }
}
