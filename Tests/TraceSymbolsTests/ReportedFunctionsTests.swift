import TestSupport
import Testing
import TraceSymbols

/// The addresses by which hooks report the functions of a module.
@Suite struct ReportedFunctionsTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("reported functions") }

    private func build(_ compiler: Toolchain.Compiler, _ flags: [String]) throws -> String {
        try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: compiler, flags: flags, libraries: [],
            output: directory.file("program"))
    }

    @Test(arguments: [Toolchain.Compiler.gcc, .clang]) func startsOfFunctions(_ compiler: Toolchain.Compiler) throws {
        let path = try build(compiler, ["-finstrument-functions", "-g"])
        let reported = try ReportedFunctions(path: path)
        let symbols = try #require(ModuleSymbols(path: path, buildID: []).functions(lines: false))
        #expect(!symbols.isEmpty)
        #expect(reported.functions.map(\.name) == symbols.map(\.name))
        #expect(reported.functions.map(\.addresses) == symbols.map { [$0.start] })
    }

    @Test func nothingWithoutHooks() throws {
        #expect(try ReportedFunctions(path: build(.gcc, ["-O2"])).functions.isEmpty)
    }

    @Test func programAndLibraries() throws {
        let path = try build(.gcc, ["-finstrument-functions"])
        let modules = ReportedFunctions.modules(of: path, libraryPath: nil)
        #expect(modules.first?.path == path && modules.first?.functions.isEmpty == false)
        // The C library defines the hook that does nothing, and has none itself.
        let library = try #require(modules.first { $0.path.hasSuffix("/libc.so.6") })
        #expect(library.functions.isEmpty && !library.buildID.isEmpty)
    }
}
