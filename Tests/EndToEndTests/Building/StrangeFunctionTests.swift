import TestSupport
import Testing

/// Functions that hooks would harm (strange_functions.c) stay as they are, in every build.
@Suite struct StrangeFunctionTests {
    private static let source = "\(Binaries.sources)/strange_functions.c"

    @Test(
        arguments: ["gcc", "clang", "clang-14"],
        [
            ["-O0"], ["-O1", "-fPIC"], ["-O2"], ["-O3", "-fcf-protection=full"], ["-Os", "-fno-plt"],
            ["-O2", "-static"],
            ["-O2", "-flto"], ["-O2", "-pipe"], ["-O2", "-static-pie"],
            ["-O1", "-mcmodel=large", "-fno-pie", "-no-pie"],
        ])
    func stayAsTheyAre(_ compiler: String, _ options: [String]) throws {
        try #require(Toolchain.isInstalled(compiler))
        let directory = try TemporaryDirectory("strange")
        let plain = directory.file("plain"), hooked = directory.file("hooked")
        guard try run(compiler, options + ["-w", Self.source, "-o", plain]).status == 0 else {
            return  // a linker that knows no such program
        }
        for more in [[], ["--system-headers"]] {
            let built = try build(more, [compiler] + options + ["-w", Self.source, "-o", hooked], in: directory)
            #expect(built.status == 0, "\(built.stderr)")
            #expect(try run(hooked, []).stdout == "21 7 1 42 138\n", "\(more)")
            let session = directory.file("session.fathom")
            let recorded = try Fathom.record([hooked], into: session)
            #expect(recorded.status == 0 && recorded.stdout == "21 7 1 42 138\n", "\(more): \(recorded.stderr)")
            let counts = try Dump(session).counts()
            #expect(counts["main"] == 1 && counts["around"] == 1 && counts["handle"] == 1, "\(counts)")
            #expect(counts["plus_one"] == nil && counts["sum"] == nil, "\(counts)")
        }
    }

    /// Assembly for somebody else has no such hooks either.
    @Test(arguments: [[], ["-o", "written.s"]]) func assembly(_ output: [String]) throws {
        let directory = try TemporaryDirectory("assembly")
        let built = try build([], ["gcc", "-w", "-O1", "-S", Self.source] + output, in: directory)
        #expect(built.status == 0, "\(built.stderr)")
        let made = directory.file(output.last ?? "strange_functions.s")
        #expect(try run("gcc", ["-w", made, "-o", directory.file("made"), "-finstrument-functions"]).status == 0)
        #expect(try run(directory.file("made"), []).stdout == "21 7 1 42 138\n")
    }

    /// What cannot be left out without harm is told.
    @Test func warning() throws {
        let directory = try TemporaryDirectory("warning")
        let source = try directory.write(
            "void use(int);\n__attribute__((naked)) void odd(int x) { use(x); __asm__(\"ret\"); }\n", to: "odd.c")
        let options = ["gcc", "-w", "-O2", "-c", source, "-o", directory.file("odd.o")]
        let built = try build([], options, in: directory)
        #expect(built.status == 0 && built.stderr.contains("warning: odd has no prologue"), "\(built.stderr)")
        let without = try build(["--exclude-function", "odd"], options, in: directory)
        #expect(without.status == 0 && !without.stderr.contains("prologue"), "\(without.stderr)")
    }

    /// gcc takes -pg and -fomit-frame-pointer for opposites.
    @Test func dormantWithoutFramePointers() throws {
        let directory = try TemporaryDirectory("frames")
        let program = directory.file("fib")
        let options = ["gcc", "-O2", "-fomit-frame-pointer", "\(Binaries.sources)/fib.c", "-o", program]
        let built = try build(["--dormant"], options, in: directory)
        #expect(built.status == 0, "\(built.stderr)")
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([program, "10"], into: session).stdout == "55\n")
        #expect(try Dump(session).counts()["main"] == 1)
    }

    private func build(
        _ options: [String], _ command: [String], in directory: TemporaryDirectory
    ) throws -> ProcessOutput {
        try Fathom.run(
            ["build"] + options + ["--"] + command, environment: ["XDG_CACHE_HOME": directory.file("cache")],
            workingDirectory: directory.path)
    }
}
