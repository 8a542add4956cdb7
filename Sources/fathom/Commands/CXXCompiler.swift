internal import ArgumentParser
internal import TraceBuild

/// `fathom c++ …`: the C++ compiler, with hooks.
struct CXXCompiler: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "c++",
        abstract: "Compile C++ as c++ does, with hooks in every function.",
        discussion: "All arguments are c++'s. Another compiler may be named first: fathom c++ clang++ -O2 -c file.cpp.")

    @Argument(parsing: .captureForPassthrough, help: "The compiler's arguments.")
    var arguments: [String] = []

    func run() throws { compile(as: "c++", arguments) }
}
