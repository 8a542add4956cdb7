internal import Glibc
import TestSupport
import Testing

/// The runtime built with FATHOM_VALID looks at each slow path and at notes whether what it knows of the thread can be, and
/// always whether locks are taken in their order and no code of others is called under one. It ends the program where that
/// does not hold (`follow/valid.c` and `host/locks.c` in `Sources/CTraceRuntime`).
struct ValidityTests {
    @Test(arguments: [4, 5]) func tortureProgramsKeepItValid(_ seed: Int) throws {
        try TortureTests.expectRight(
            ["\(seed)", "--calls", "600", "--builds", "gcc-O2,clang-O0"], by: Self.fathom.get())
    }

    @Test(
        arguments: [
            TracedProgram("torture.cpp", ["2000"]), TracedProgram("jumps.c", ["2000"]), TracedProgram("coroutines.c"),
            TracedProgram("signals.c"), TracedProgram("fork_threads.c"), TracedProgram("control_stress.c"),
        ])
    func programsKeepItValid(_ program: TracedProgram) throws {
        let directory = try TemporaryDirectory("valid")
        let fathom = try Self.fathom.get()
        let binary = try Binaries.instrumented(program.source, .gccO2)
        for options in Self.ways {
            // A hook of this mode that a handler interrupts has written one word of two, and the handler's hook finds that.
            if options == ["--mode", "stack"] && program.source == "signals.c" { continue }
            let recorded = try record(binary, program.arguments, by: fathom, options, directory)
            #expect(!recorded.stderr.contains(Self.complaint), "\(options): \(recorded.stderr)")
            #expect(recorded.status == 0, "\(options): \(recorded.stderr)")
        }
    }

    /// Libraries come and go, and hooks run under the lock of the loader's list.
    @Test(arguments: [
        [], ["--buffer-size", "16K"], ["-N", "/[kw]/"], ["--mode", "profile"], ["--memory", "--blocked"],
    ])
    func locksAreTakenInTheirOrder(_ options: [String]) throws {
        let directory = try TemporaryDirectory("valid")
        let libraries = try ["a", "b"].map { letter in
            try Binaries.instrumented(
                "plugin.c", .gccO2, flags: ["-shared", "-fPIC", "-DLETTER=\(letter)"], variant: "-\(letter)")
        }
        let binary = try Binaries.instrumented("listing.c", .gccO2)
        let recorded = try record(binary, ["churn"] + libraries, by: Self.fathom.get(), options, directory)
        #expect(recorded.stdout == "done\n", "\(recorded.stderr)")
        #expect(recorded.status == 0)
    }

    #if arch(x86_64)
        /// The same, where sleds are opened and closed as well.
        @Test func locksAreTakenInTheirOrderBySleds() throws {
            let directory = try TemporaryDirectory("valid")
            let fathom = try Self.fathom.get()
            for (name, flags) in [("program", []), ("library.so", ["-shared", "-fPIC", "-DLIBRARY"])] {
                let built = try run(
                    fathom,
                    ["build", "--dormant", "--", "gcc", "-O2", "-pthread", "\(Binaries.sources)/unload_churn.c"] + flags
                        + ["-o", directory.file(name)],
                    environment: Fathom.inherited(adding: ["XDG_CACHE_HOME": directory.file("cache")]))
                try #require(built.status == 0, "\(built.stderr)")
            }
            for options in [["--buffer-size", "16K", "--budget", "1%"], ["--mode", "profile"]] {
                let recorded = try record(
                    directory.file("program"), [directory.file("library.so")], by: fathom, options, directory)
                #expect(recorded.stdout == "done\n", "\(options): \(recorded.stderr)")
                #expect(recorded.status == 0)
            }
        }
    #endif

    /// Runtimes in which one lock is taken in place of another, and in which the loader is called under a lock.
    @Test(arguments: [
        (
            "session/metadata.c", "s/LOCK_METADATA/LOCK_CONTROL/", "locks are taken in their order"
        ),
        (
            "session/modules.c",
            "s/lock_give(LOCK_MODULES, blocked);//; s/sleds_scan();/&lock_give(LOCK_MODULES, blocked);/",
            "no lock is held where foreign code is called"
        ),
    ])
    func wrongUseOfLocksIsFound(_ file: String, _ change: String, _ complaint: String) throws {
        let directory = try TemporaryDirectory("valid")
        let sources = directory.file("Sources")
        try run("cp", ["-R", "\(Binaries.repository)/Sources", sources])
        let path = "\(sources)/CTraceRuntime/\(file)"
        let original = try run("cat", [path]).stdout
        try run("sed", ["-i", change, path])
        #expect(try run("cat", [path]).stdout != original)
        let recorded = try record(
            Binaries.instrumented("jumps.c", .gccO2), ["10"], by: Self.fathom(in: directory.path, runtime: sources), [],
            directory)
        #expect(recorded.stderr.contains(Self.complaint + complaint), "\(recorded.stderr)")
        #expect(recorded.status != 0)
    }

    /// Options for each mode, and for each thing that slow paths and notes do besides. The functions of every program have
    /// one of these letters.
    private static let ways = [
        [], ["-D", "6"], ["-t", "2us"], ["--paused"], ["--mode", "flight"], ["--mode", "profile"],
        ["--mode", "counts"],
        ["--mode", "stack"], ["--memory"], ["--blocked"], ["-F", "/[kw]/"], ["-N", "/[kw]/"],
    ]

    /// A runtime in which a jump leaves calls open that it has ended.
    @Test func whatIsWrongIsFound() throws {
        let directory = try TemporaryDirectory("valid")
        let sources = directory.file("Sources")
        try run("cp", ["-R", "\(Binaries.repository)/Sources", sources])
        let ending = "\(sources)/CTraceRuntime/follow/ending.c"
        let original = try run("cat", [ending]).stdout
        try run("sed", ["-i", "s/ && frame_sp(live) < sp) live--;/ \\&\\& 0) live--;/", ending])
        #expect(try run("cat", [ending]).stdout != original)
        let binary = try Binaries.instrumented("jumps.c", .gccO2)
        let fathom = try Self.fathom(in: directory.path, runtime: sources)
        let recorded = try record(binary, ["2000"], by: fathom, [], directory)
        #expect(recorded.stderr.contains(Self.complaint), "\(recorded.stderr)")
        #expect(recorded.status != 0)
    }

    /// That of these sources, made once in a run of tests.
    private static let fathom = Result {
        let directory = "\(Fathom.made)/ValidRuntime"
        mkdir(directory, 0o755)
        return try fathom(in: directory, runtime: "\(Binaries.repository)/Sources")
    }
    private static let complaint = "fathom: this does not hold: "

    private func record(
        _ binary: String, _ arguments: [String], by fathom: String, _ options: [String], _ directory: TemporaryDirectory
    ) throws -> ProcessOutput {
        try run(
            fathom,
            ["record", "--quiet", "--force", "-o", directory.file("session.fathom")] + options + ["--", binary]
                + arguments,
            environment: Fathom.inherited(adding: [:]))
    }

    /// A `fathom` beside which lies a runtime made of these sources that looks whether all is valid.
    private static func fathom(in directory: String, runtime sources: String) throws -> String {
        let made = try run(
            "\(Binaries.repository)/Tools/checked-runtime", [directory, sources],
            environment: Fathom.inherited(adding: ["FATHOM_BIN": Fathom.executable]))
        try #require(made.status == 0, Comment(rawValue: made.stderr))
        return "\(directory)/fathom"
    }
}
