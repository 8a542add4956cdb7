import TestSupport
import Testing
import TraceSymbols

/// Which objects were compiled past Fathom, whatever form their code is in.
@Suite struct ObjectInspectionTests {
    private static let source = "int twice(int x) { return 2 * x; }\nint four(void) { return twice(2); }\n"

    /// A compiler, options that make it leave code to the link, and what gives functions hooks.
    private static let forms: [(String, [String])] = [
        ("gcc", []), ("gcc", ["-flto"]), ("gcc", ["-flto", "-ffat-lto-objects"]), ("clang", ["-flto"]),
        ("clang", ["-flto=thin"]), ("clang", ["-flto", "-ffat-lto-objects"]),
    ]

    @Test(arguments: forms)
    func objects(_ compiler: String, _ options: [String]) throws {
        let directory = try TemporaryDirectory("objects")
        let bare = try object(compiler, options, in: directory, as: "bare")
        #expect(ObjectInspection(bare).withoutHookOptions == [bare])
        let hooks = options + ["-finstrument-functions", "-frecord-gcc-switches"]
        let hooked = try object(compiler, hooks, in: directory, as: "hooked")
        #expect(ObjectInspection(hooked).withoutHookOptions.isEmpty)
        #expect(ObjectInspection(hooked).mayCallHooks)
        let without = compiler == "gcc" ? "-fno-instrument-functions" : "-D__fathom_no_hooks"
        let excluded = options + [without, "-frecord-gcc-switches"]
        #expect(
            ObjectInspection(try object(compiler, excluded, in: directory, as: "excluded")).withoutHookOptions.isEmpty)
    }

    @Test(arguments: forms, [["rcs"], ["rcsT"]])
    func archives(_ form: (String, [String]), _ kind: [String]) throws {
        let directory = try TemporaryDirectory("archives")
        let bare = try object(form.0, form.1, in: directory, as: "an-object-with-a-long-name")
        let hooks = form.1 + ["-finstrument-functions", "-frecord-gcc-switches"]
        let hooked = try object(form.0, hooks, in: directory, as: "hooked")
        let library = directory.file("libboth.a"), name = "an-object-with-a-long-name.o"
        let made = try run("ar", kind + [library, hooked, bare])
        #expect(made.status == 0, "\(made.stderr)")
        let found = ObjectInspection(library)
        #expect(found.withoutHookOptions == [kind == ["rcsT"] ? bare : "\(library)(\(name))"])
        #expect(found.mayCallHooks)
    }

    /// What holds no functions, or is no compiler's, is not to blame.
    @Test func otherFiles() throws {
        let directory = try TemporaryDirectory("others")
        for (name, text) in [
            ("empty", ""), ("thin", "!<thin>\n"), ("cut", "!<thin>\n/0     "), ("text", "GROUP ( libc.so.6 )"),
        ] {
            #expect(ObjectInspection(try directory.write(text, to: name)).withoutHookOptions.isEmpty, "\(name)")
        }
        let assembly = try directory.write(".text\nf: ret\n", to: "f.s")
        try run("as", ["-o", directory.file("f.o"), assembly])
        #expect(ObjectInspection(directory.file("f.o")).withoutHookOptions.isEmpty)
    }

    private func object(
        _ compiler: String, _ options: [String], in directory: TemporaryDirectory, as name: String
    ) throws -> String {
        let source = try directory.write(Self.source, to: "\(name).c")
        let object = directory.file("\(name).o")
        let compiled = try run(compiler, options + ["-O1", "-c", source, "-o", object])
        #expect(compiled.status == 0, "\(compiled.stderr)")
        return object
    }
}
