import TestSupport
import Testing
import TraceSymbols

/// Symbols and debug information in files of their own.
@Suite struct DebugFileTests {
    let directory: TemporaryDirectory
    let program: String
    let debug: String

    /// What `program` is linked with: with a build-id that decides, without one the checksum does.
    static let buildIDs = ["-Wl,--build-id=0xabcdef0123", "-Wl,--build-id=none"]

    init() throws {
        directory = try TemporaryDirectory("debug files")
        program = directory.file("program")
        debug = directory.file("program.debug")
    }

    /// Builds the program, moves what can be moved to `debug` and links the two.
    private func split(_ buildID: String) throws {
        try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-O0", "-g", buildID], output: program)
        try run("objcopy", ["--only-keep-debug", program, debug])
        try run("strip", [program])
        try run("objcopy", ["--add-gnu-debuglink=\(debug)", program])
    }

    private func expectFunctions(_ symbols: ModuleSymbols) throws {
        #expect(symbols.problem == nil)
        let function = try #require(symbols.functions()?.first { $0.name == "local_one" })
        #expect(function.line == Programs.line(of: "local_one(", in: Programs.c))
        #expect(symbols.location(at: function.start)?.line == function.line)
    }

    @Test(arguments: buildIDs) func besideTheProgram(_ buildID: String) throws {
        try split(buildID)
        try expectFunctions(ModuleSymbols(path: program, buildID: []))
    }

    @Test(arguments: buildIDs) func inDotDebug(_ buildID: String) throws {
        try split(buildID)
        try directory.makeDirectory(".debug")
        try run("mv", [debug, directory.file(".debug")])
        try expectFunctions(ModuleSymbols(path: program, buildID: []))
    }

    @Test(arguments: buildIDs) func belowADebugRoot(_ buildID: String) throws {
        try split(buildID)
        let place = try directory.makeDirectory("root\(directory.path)")
        try run("mv", [debug, place])
        #expect(ModuleSymbols(path: program, buildID: []).problem == .noSymbols(program))
        try expectFunctions(ModuleSymbols(path: program, buildID: [], debugRoots: [directory.file("root")]))
    }

    @Test func byBuildID() throws {
        try split(Self.buildIDs[0])
        try run("objcopy", ["--remove-section=.gnu_debuglink", program])
        let place = try directory.makeDirectory("root/.build-id/ab")
        try run("mv", [debug, "\(place)/cdef0123.debug"])
        let id: [UInt8] = [0xab, 0xcd, 0xef, 0x01, 0x23]
        try expectFunctions(ModuleSymbols(path: program, buildID: id, debugRoots: [directory.file("root")]))
    }

    /// A file of the right name from another build is passed over.
    @Test(arguments: buildIDs) func ofAnotherBuild(_ buildID: String) throws {
        try split(buildID)
        let other = buildID == Self.buildIDs[0] ? "-Wl,--build-id=0xffff" : buildID
        try Toolchain.compile(
            sources: ["other.c": Programs.c], compiler: .gcc, flags: ["-O2", "-g", other], output: debug)
        #expect(ModuleSymbols(path: program, buildID: []).problem == .noSymbols(program))
    }

    /// Names stay in the program, lines come from the file beside it.
    @Test func debugInformationAlone() throws {
        try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .clang, flags: ["-O0", "-g"], output: program)
        try run("objcopy", ["--only-keep-debug", program, debug])
        try run("strip", ["--strip-debug", program])
        try run("objcopy", ["--add-gnu-debuglink=\(debug)", program])
        try expectFunctions(ModuleSymbols(path: program, buildID: []))
    }

    /// Keeps the program as `twin` and strips it, with no word in it of where its symbols are.
    private func strip(_ buildID: String, keeping twin: String) throws {
        try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-O0", "-g", buildID], output: program)
        try run("cp", [program, twin])
        try run("strip", [program])
    }

    @Test(arguments: buildIDs, ["program_unstripped", "program.debug", ".debug/program"])
    func unstrippedTwin(_ buildID: String, _ name: String) throws {
        try directory.makeDirectory(".debug")
        try strip(buildID, keeping: directory.file(name))
        try expectFunctions(ModuleSymbols(path: program, buildID: []))
    }

    /// Twins of another build, with and without a build-id, are passed over.
    @Test(arguments: buildIDs) func twinOfAnotherBuild(_ buildID: String) throws {
        try strip(buildID, keeping: directory.file("kept"))
        let other = buildID == Self.buildIDs[0] ? "-Wl,--build-id=0xffff" : buildID
        try Toolchain.compile(
            sources: ["other.c": Programs.c + "\nint more(int x) { return x + 1; }"], compiler: .gcc,
            flags: ["-O0", "-g", other], output: directory.file("program_unstripped"))
        #expect(ModuleSymbols(path: program, buildID: []).problem == .noSymbols(program))
    }

    @Test(arguments: buildIDs, ["", "program", "program.debug", "program_unstripped"])
    func namedByAPerson(_ buildID: String, _ name: String) throws {
        let place = try directory.makeDirectory("symbols")
        let kept = name.isEmpty ? directory.file("anything") : "\(place)/\(name)"
        try strip(buildID, keeping: kept)
        let named = name.isEmpty ? kept : place
        try expectFunctions(ModuleSymbols(path: program, buildID: [], symbolFiles: ["/nowhere", named]))
    }

    /// A program that was built anew, or is gone, is known by its build-id.
    @Test(arguments: [true, false]) func insteadOfTheProgram(_ isGone: Bool) throws {
        let id: [UInt8] = [0xab, 0xcd, 0xef, 0x01, 0x23]
        let place = try directory.makeDirectory("symbols")
        try strip(Self.buildIDs[0], keeping: "\(place)/program")
        if isGone { try run("rm", [program]) } else { try run("cp", ["/bin/true", program]) }
        #expect(ModuleSymbols(path: program, buildID: id).problem != nil)
        try expectFunctions(ModuleSymbols(path: program, buildID: id, symbolFiles: [place]))
    }
    /// Wherever it lies below a directory that a person named, and whatever it is called, a file is known by its build-id.
    @Test(arguments: [true, false]) func anyNameAnywhere(_ isGone: Bool) throws {
        let id: [UInt8] = [0xab, 0xcd, 0xef, 0x01, 0x23]
        try split(Self.buildIDs[0])
        let place = try directory.makeDirectory("symbols/2026/x86_64/some where")
        try run("cp", [debug, "\(place)/0001.bin"])
        // Another file of that kind, one that is none, and a directory that leads to itself.
        try Toolchain.compile(
            sources: ["other.c": Programs.c], compiler: .gcc, flags: ["-g", "-Wl,--build-id=0xffff"],
            output: "\(place)/0000.bin")
        try writeFile([0x7f, 0x45, 0x4c, 0x46, 1], to: "\(place)/0002.bin")
        try run("ln", ["-s", directory.file("symbols"), "\(place)/round"])
        try run("mv", [debug, directory.file("away")])
        #expect(ModuleSymbols(path: program, buildID: id).problem == .noSymbols(program))
        if isGone { try run("mv", [program, directory.file("gone")]) }
        try expectFunctions(
            ModuleSymbols(path: program, buildID: id, symbolFiles: [directory.file("symbols")]))
    }

    /// The names of local functions that distributions leave in their programs.
    @Test(.enabled(if: Toolchain.isInstalled("xz"))) func miniDebugInfo() throws {
        try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-O0", "-g", "-rdynamic"], output: program)
        let all = try #require(ModuleSymbols(path: program, buildID: []).functions(lines: false))
        let mini = directory.file("mini")
        try run("objcopy", ["--strip-all", "--keep-symbol=local_one", program, mini])
        try run("strip", [program])
        #expect(ModuleSymbols(path: program, buildID: []).functions()?.contains { $0.name == "local_one" } == false)
        try run("xz", [mini])
        try run("objcopy", ["--add-section", ".gnu_debugdata=\(mini).xz", program])
        let found = try #require(ModuleSymbols(path: program, buildID: []).functions())
        for name in ["local_one", "global_two", "main"] {
            let function = try #require(all.first { $0.name == name })
            #expect(found.contains { $0.name == name && $0.start == function.start })
        }
        // One that is damaged leaves the other names.
        var bytes = try readFile("\(mini).xz")
        bytes[bytes.count / 2] ^= 0xff
        try writeFile(bytes, to: "\(mini).xz")
        try run("objcopy", ["--update-section", ".gnu_debugdata=\(mini).xz", program])
        #expect(ModuleSymbols(path: program, buildID: []).functions()?.contains { $0.name == "global_two" } == true)
    }

    /// A package of split files is read where libdw can, or is named.
    @Test(.enabled(if: Toolchain.isInstalled("llvm-dwp"))) func splitPackage() throws {
        _ = try directory.write(Programs.c, to: "program.c")
        let made = try run(
            "sh",
            [
                "-c",
                "clang -c -O0 -g -gdwarf-5 -gsplit-dwarf program.c && clang program.o -o program && llvm-dwp -e program -o program.dwp && rm *.dwo",
            ], workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
        var said: [String] = []
        let symbols = ModuleSymbols(path: program, buildID: [], symbolFiles: SymbolFiles([]) { said.append($0) })
        let function = try #require(symbols.functions()?.first { $0.name == "local_one" })
        #expect(function.line == 0 ? said.count == 1 && said[0].contains("/program.dwp, which libdw") : said.isEmpty)
    }

    /// That debug information is missing is told once, and lines that may be others are not shown.
    @Test(arguments: [Toolchain.Compiler.gcc, .clang]) func splitFilesAreMissing(_ compiler: Toolchain.Compiler) throws
    {
        _ = try directory.write(Programs.c, to: "program.c")
        for arguments in [["-c", "-O0", "-g", "-gsplit-dwarf", "program.c"], ["program.o", "-o", "program"]] {
            let made = try run(compiler.rawValue, arguments, workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
        }
        try expectFunctions(ModuleSymbols(path: program, buildID: []))
        try run("mv", [directory.file("program.dwo"), directory.file("away")])
        var said: [String] = []
        let symbols = ModuleSymbols(
            path: program, buildID: [], symbolFiles: SymbolFiles([]) { said.append($0) })
        let function = try #require(symbols.functions()?.first { $0.name == "local_one" })
        #expect(function.line == 0 && function.file == nil)
        #expect(said.count == 1 && said.first?.contains("program.dwo") == true, "\(said)")
        #expect(symbols.location(at: function.start)?.line == Programs.line(of: "local_one(", in: Programs.c))
    }
}
