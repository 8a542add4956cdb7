internal import Glibc
import TestSupport
import Testing

/// Hooks, and functions that the runtime stands before, are called while the program, the loader or the allocator hold
/// their locks, by threads that others wait for. The runtime waits for none of these.
@Suite struct HeldLockTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("session.fathom") }

    init() throws { directory = try TemporaryDirectory("locks") }

    private func library(_ letter: String) throws -> String {
        try Binaries.instrumented(
            "plugin.c", .gccO2, flags: ["-shared", "-fPIC", "-DLETTER=\(letter)"], variant: "-\(letter)")
    }

    /// A library's constructor, under the loader's lock, waits for a thread that calls such a function for the first time.
    @Test(arguments: ["mask", "wait", "sleep", "action", "map", "throw"])
    func firstCallsUnderTheLoadersLock(_ kind: String) throws {
        let plugin = try Binaries.make(
            "ready_plugin.so", command: "g++", ["-std=c++20", "-O1", "-shared", "-fPIC", "-pthread"],
            ["\(Binaries.sources)/ready_plugin.cpp"])
        let recorded = try Fathom.record(
            [try Binaries.instrumented("ready.c", .gccO2), plugin], into: session, environment: ["KIND": kind])
        #expect(recorded.stdout == "sum 7\n")
        #expect(recorded.status == 0)
    }

    /// Exceptions land in libraries that are loaded and unloaded, and with them the unwinder: its place changes, and nobody
    /// keeps it.
    @Test func unwindersComeAndGo() throws {
        let plugins = try ["a", "b", "c"].map { letter in
            try Binaries.make(
                "thrower-\(letter).so", command: "g++",
                [
                    "-std=c++20", "-O1", "-shared", "-fPIC", "-static-libstdc++", "-shared-libgcc",
                    "-Wl,--exclude-libs,ALL",
                ], ["\(Binaries.sources)/thrower.cpp"])
        }
        let truth = directory.file("truth")
        let recorded = try Fathom.record(
            [try Binaries.instrumented("ready.c", .gccO2)] + plugins, into: session, environment: ["TRUTH": truth])
        #expect(recorded.stdout == "sum 21\n")
        #expect(recorded.status == 0)
        #expect(try Truth.lines(truth) == [["gone", "1"]])
    }

    /// Hooks run in a function that dl_iterate_phdr calls, under the lock of the loader's list. Others load and unload
    /// libraries, or are waited for there.
    @Test(arguments: ["churn", "wait", "fork"], Build.two) func hooksUnderTheListsLock(_ kind: String, _ build: Build)
        throws
    {
        let libraries = try (kind == "churn" ? ["a", "b"] : ["a"]).map(library)
        let recorded = try Fathom.record(
            [try Binaries.instrumented("listing.c", build), kind] + libraries, into: session,
            options: ["--quiet", "--buffer-size", "16K", "--max-size", "50M"] + (kind == "fork" ? ["-N", "leaf"] : []))
        #expect(recorded.stdout == "done\n")
        #expect(recorded.status == 0)
    }

    /// What stands behind the runtime is the next library's, and not the C library's, whichever way its names are hashed.
    @Test(arguments: ["sysv", "gnu"]) func preloadedLibrariesStandBehind(_ hash: String) throws {
        let interposer = try Binaries.make(
            "interposer-\(hash).so", command: "gcc", ["-O2", "-shared", "-fPIC", "-Wl,--hash-style=\(hash)"],
            ["\(Binaries.sources)/interposer.c"])
        let recorded = try Fathom.record(
            [try Binaries.instrumented("interposed.c", .gccO2)], into: session, environment: ["LD_PRELOAD": interposer])
        #expect(recorded.stdout == "behind: 3 sleeps, 3 blocks\n")
        #expect(recorded.status == 0)
    }

    /// Stacks overflow in the program and in hooks, and the program survives it.
    @Test(arguments: [
        ["--buffer-size", "16K"], ["-F", "recurse"], ["-D", "100"], ["--blocked"], ["--mode", "profile"],
        ["--mode", "flight"], ["--mode", "counts"], ["--mode", "stack"],
    ])
    func overflowsOfStacks(_ options: [String]) throws {
        for build in Build.two {
            let binary = try Binaries.instrumented("overflow.c", build)
            let recorded = try Fathom.record(
                [binary, "500"], into: session, options: ["--quiet", "--force"] + options)
            #expect(recorded.stdout == "handled 500\n")
            #expect(recorded.status == 0, "\(build)")
        }
    }

    #if arch(x86_64)
        /// Builds a program of `Traces/programs` with closed sleds.
        private func dormant(_ source: String, _ flags: [String] = [], as name: String) throws -> String {
            let built = try Fathom.run(
                ["build", "--dormant", "--", "gcc", "-O2", "-pthread", "\(Binaries.sources)/\(source)"] + flags
                    + ["-o", directory.file(name)],
                environment: ["XDG_CACHE_HOME": directory.file("cache")])
            try #require(built.status == 0, "\(built.stderr)")
            return directory.file(name)
        }

        /// The same in a program with sleds, whose slow paths take the most room.
        @Test(arguments: [
            ["--buffer-size", "16K"], ["--buffer-size", "16K", "--budget", "1%"], ["--mode", "profile"],
        ])
        func overflowsAtSleds(_ options: [String]) throws {
            let recorded = try Fathom.record(
                [try dormant("overflow.c", as: "overflow"), "500"], into: session, options: ["--quiet"] + options)
            #expect(recorded.stdout == "handled 500\n")
            #expect(recorded.status == 0)
        }

        /// A budget closes sleds while another thread unloads a library that has some.
        @Test func sledsOfUnloadedLibraries() throws {
            let command = [
                try dormant("unload_churn.c", as: "program"),
                try dormant("unload_churn.c", ["-shared", "-fPIC", "-DLIBRARY"], as: "library.so"),
            ]
            for _ in 0..<3 {
                let recorded = try Fathom.record(
                    command, into: session, options: ["--quiet", "--force", "--buffer-size", "16K", "--budget", "1%"])
                #expect(recorded.stdout == "done\n")
                #expect(recorded.status == 0)
            }
        }

        /// Code that the program has made writable is so after sleds in it were closed.
        @Test func rightsOfCodeStay() throws {
            let recorded = try Fathom.record(
                [try dormant("writable_code.c", as: "program")], into: session,
                options: ["--buffer-size", "16K", "--budget", "1%"])
            #expect(recorded.stdout == "writable 1\n")
            #expect(recorded.status == 0)
            #expect(recorded.stderr.contains("closed again to keep to the budget"), "\(recorded.stderr)")
        }

        /// A program has so many keys of thread-specific data that the runtime's would take memory in each thread. Its
        /// threads begin in a handler that has interrupted the allocator, and end without anybody telling.
        @Test func threadsOfProgramsWithManyKeys() throws {
            let binary = try Binaries.instrumented("keys.c", .gccO2)
            let go = directory.file("go"), truth = directory.file("truth")
            let program = try BackgroundProcess([binary, go, "300"], environment: ["TRUTH": truth])
            try #require(waitUntil { (try? readFile("/proc/\(program.pid)/comm")).map { $0.first == 107 } ?? false })
            let recorder = try BackgroundProcess(
                [Fathom.executable, "record", "-q", "-o", session, "--attach", "\(program.pid)"])
            try #require(
                waitUntil(seconds: 30) {
                    (try? Fathom.run(["ctl", "\(program.pid)", "status"]))?.stdout.contains("\(program.pid)") ?? false
                })
            try writeFile([], to: go)
            #expect(waitUntil(seconds: 120) { access(truth, F_OK) == 0 })
            recorder.signal(SIGINT)
            #expect(recorder.wait() == 0)
            program.signal(SIGKILL)
            program.wait()
            let counts = try Dump(session).counts()
            #expect(counts["handler"] == 300)
            #expect(counts["leaf"] == 300)
        }
    #endif
}
