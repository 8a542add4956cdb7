import TestSupport
import Testing

/// The runtime preloaded, linked dynamically and linked statically; modules that come and go.
@Suite struct LibraryTests {
    private func plugin(_ letter: String, _ build: Build) throws -> String {
        try Binaries.instrumented(
            "plugin.c", build, flags: ["-shared", "-fPIC", "-DLETTER=\(letter)"], variant: "-\(letter)")
    }

    /// Two libraries at the same addresses in turn: every call is named by who was there at the time.
    @Test(arguments: Build.all)
    func reusedAddresses(_ build: Build) throws {
        let command = [
            try Binaries.instrumented("dlreopen.c", build), try plugin("a", build), try plugin("b", build),
        ]
        let directory = try TemporaryDirectory("reopen")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let output = try Fathom.record(command, into: session, environment: ["TRUTH": truth])
        #expect(output.stdout == "sum 800\n")
        #expect(try Truth.lines(truth) == [["moves", "0"]], "the addresses were not used again: nothing was tested")
        let counts = try Dump(session).counts()
        expectEqual(counts, try Truth.counts(command))
        #expect(counts["a_leaf"] == 200)
        #expect(counts["b_leaf"] == 200)
    }

    /// Hooks come from inside the loading of a library, before it is there: it is known all the same when the program is
    /// killed after its calls.
    @Test(arguments: ["malloc", "handler"], Build.two)
    func hooksInsideLoading(_ kind: String, _ build: Build) throws {
        let directory = try TemporaryDirectory("loading")
        let session = directory.file("session.fathom")
        let command = [try Binaries.instrumented("loading.c", build), kind, try plugin("a", build)]
        #expect(try Fathom.record(command, into: session).signal == 9)
        let counts = try Dump(session).counts()
        #expect(counts["plugin_run"] == 100)
        #expect(counts["a_leaf"] == 201)
    }

    /// A fork's child loads a library before its first hook, and is killed after its calls.
    @Test(arguments: Build.two)
    func loadedByAChildBeforeItsFirstHook(_ build: Build) throws {
        let library = try Binaries.instrumented(
            "plugin.c", build, flags: ["-shared", "-fPIC", "-DLETTER=a", "-DSILENT"], variant: "-silent")
        let directory = try TemporaryDirectory("child")
        let session = directory.file("session.fathom")
        let command = [try Binaries.instrumented("child_loading.c", build), library]
        #expect(try Fathom.record(command, into: session).status == 0)
        let counts = try Dump(session).counts()
        #expect(counts["in_parent"] == 1)
        #expect(counts["plugin_run"] == 100)
        #expect(counts["a_leaf"] == 200)
    }

    /// A library is gone between the moment it was found and the moment it is told.
    @Test func unloadedUnseen() throws {
        let directory = try TemporaryDirectory("unloading")
        let session = directory.file("session.fathom")
        let library = try Toolchain.compile(
            sources: ["empty.c": "int nothing;"], compiler: .gcc, flags: ["-shared", "-fPIC", "-Wl,--build-id"],
            output: directory.file("library.so"))
        let binary = try Binaries.instrumented("unloading.c", .gccO2, flags: ["-rdynamic"])
        let reader = try Binaries.make(
            "unloading.so", command: "gcc", ["-O2", "-shared", "-fPIC", "-DPRELOADED"],
            ["\(Binaries.sources)/unloading.c"])
        let recorded = try Fathom.record([binary, library], into: session, environment: ["LD_PRELOAD": reader])
        #expect(recorded.stdout == "unloaded\n")
        #expect(recorded.status == 0)
        #expect(try Dump(session).counts()["leaf"] == 3)
        #expect(try Fathom.run(["info", "--modules", session]).stdout.contains("library.so"))
    }

    /// A namespace of its own has a libc of its own: the plugin runs, the rest is recorded.
    @Test func namespaces() throws {
        let command = [try Binaries.instrumented("dlreopen.c", .gccO2), "-m", try plugin("a", .gccO2)]
        let directory = try TemporaryDirectory("namespace")
        let session = directory.file("session.fathom")
        let output = try Fathom.record(command, into: session)
        #expect(output.stdout == "sum 40\n")
        #expect(output.status == 0)
        expectEqual(try Dump(session).counts(), try Truth.counts(command))
    }

    /// Linked with `-lfathom`: runs alone as ever, and is recorded once, not twice.
    @Test(arguments: Build.two)
    func linkedDynamically(_ build: Build) throws {
        let binary = try Binaries.instrumented(
            "counter.c", build, libraries: ["-L\(Fathom.products)", "-lfathom", "-Wl,-rpath,\(Fathom.products)"],
            variant: "-linked")
        try check(binary, ["15"], counted: try Binaries.instrumented("counter.c", build))
    }

    /// Linked with libfathom.a into a static program; libfathom.static holds the options that takes.
    @Test(
        arguments: [
            TracedProgram("counter.c", ["15"]), TracedProgram("subshells.c", ["20"]), TracedProgram("json.c"),
            TracedProgram("threads.c"), TracedProgram("jumps.c", ["5000"]), TracedProgram("torture.cpp", ["5000"]),
            TracedProgram("coroutines.c"), TracedProgram("cancelled.c"),
        ], Build.two)
    func linkedStatically(_ program: TracedProgram, _ build: Build) throws {
        let binary = try Binaries.instrumented(
            program.source, build, flags: ["-static"], libraries: Fathom.staticRuntime,
            variant: "-with-runtime")
        try check(binary, program.arguments, counted: try Binaries.instrumented(program.source, build))
    }

    /// `fathom build` of this very package gives hooks to all C that is compiled; hooks that call hooks would never end.
    @Test func runtimeHasNoHooksOfItsOwn() throws {
        let sources = "\(Binaries.sources)/../../Sources"
        let parts = [
            "CTraceRuntime", "CTraceRuntimeImage", "CTraceRuntimeStatic", "CTraceSwiftHooks", "CTraceSharedHooks",
            "CTraceSleds",
        ]
        let files = try run("find", parts.map { "\(sources)/\($0)" } + ["-name", "*.c"]).stdout
            .split(separator: "\n").map(String.init)
        #expect(files.count > 15)
        #expect(try hookCalls("\(Binaries.sources)/counter.c") > 0)
        for file in files { #expect(try hookCalls(file) == 0, Comment(rawValue: file)) }
    }

    /// How often a file, compiled with hooks, calls or jumps to one.
    private func hookCalls(_ file: String) throws -> Int {
        let sources = "\(Binaries.sources)/../../Sources"
        let include = ["CTraceFormat", "CFathom", "CInstructions", "CTraceRuntime"].map { "-I\(sources)/\($0)/include" }
        let compiled = try run(
            "clang", ["-std=gnu17", "-O2", "-fPIC", "-finstrument-functions", "-S", "-o", "-", file] + include)
        try #require(compiled.status == 0, Comment(rawValue: compiled.stderr))
        return compiled.stdout.split(separator: "\n").count {
            $0.contains("\t__cyg_profile_func_") && !$0.contains("\t.")
        }
    }

    private func check(_ binary: String, _ arguments: [String], counted: String) throws {
        let directory = try TemporaryDirectory("linked")
        let session = directory.file("session.fathom")
        let plain = try run(binary, arguments)
        let recorded = try Fathom.record([binary] + arguments, into: session)
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.stderr == plain.stderr)
        #expect(recorded.status == plain.status)
        expectEqual(try Dump(session).counts(), try Truth.counts([counted] + arguments))
    }
}
