internal import ArgumentParser
internal import Glibc
internal import TraceBuild
internal import TraceText

/// `fathom cc …`: the C compiler, with hooks.
struct CCompiler: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cc",
        abstract: "Compile C as cc does, with hooks in every function.",
        discussion: """
            All arguments are cc's. Another compiler may be named first: fathom cc clang -O2 -c file.c. What \
            fathom build sets for the build it runs (FATHOM_BUILD) holds here too.
            """,
        examples: [
            ("fathom cc -O2 -o prog prog.c", "Compiles and links as cc does, with hooks."),
            ("fathom cc clang -O2 -c prog.c", "Compiles with clang instead."),
        ])

    @Argument(parsing: .captureForPassthrough, help: "The compiler's arguments.", completion: .file())
    var arguments: [String] = []

    func run() throws { compile(as: "cc", arguments) }
}

/// Compiles with hooks and ends as the compiler does.
func compile(as name: String, _ arguments: [String]) -> Never {
    var (name, arguments) = (name, arguments)
    if let first = arguments.first, StandIns.isStandIn(first) {
        name = first
        arguments.removeFirst()
    }
    let options = getenv(BuildOptions.variable).map { BuildOptions(encoded: String(rawCString: $0)) } ?? BuildOptions()
    do throws(BuildError) {
        let tools = Installation.swiftTools
        if CompilerName.isSwift(name.split(separator: "/").last.map(String.init) ?? "") {
            try SwiftBuild(options, tools: tools).run(name, arguments)
        }
        let driver = try CompilerDriver(name: name, arguments: arguments, options: options)
        let parts = CompilerDriver.Parts(
            swiftHooks: tools.hooks, sharedHooks: Installation.sharedLibraryHooks, staticRuntime: tools.staticRuntime,
            sleds: Installation.sleds)
        Glibc.exit(try driver.run(linking: parts))
    } catch {
        Glibc.exit(Diagnostics.fail(error.description, status: 1).rawValue)
    }
}
