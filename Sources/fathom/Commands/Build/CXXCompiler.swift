internal import ArgumentParser
internal import TraceBuild

/// `fathom c++ …`: the C++ compiler, with hooks.
struct CXXCompiler: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "c++",
        abstract: "Compile C++ as c++ does, with hooks in every function.",
        discussion: "All arguments are c++'s. Another compiler may be named first.",
        examples: [
            ("fathom c++ -O2 -o prog prog.cpp", "Compiles and links as c++ does, with hooks."),
            ("fathom c++ clang++ -O2 -c prog.cpp", "Compiles with clang++ instead."),
        ])

    @Argument(parsing: .captureForPassthrough, help: "The compiler's arguments.", completion: .file())
    var arguments: [String] = []

    func run() throws { compile(as: "c++", arguments) }
}
