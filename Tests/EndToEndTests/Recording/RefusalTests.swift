internal import Glibc
import TestSupport
import Testing

/// What cannot be recorded is refused before it runs, with the remedy.
@Suite struct RefusalTests {
    /// Records `command` and expects a refusal that says all of `words`, and no session.
    private func expectRefusal(_ command: [String], saying words: [String], _ directory: TemporaryDirectory) throws {
        let session = directory.file("refused.fathom")
        let output = try Fathom.record(command, into: session)
        #expect(output.status != 0)
        #expect(output.signal == nil)
        #expect(output.stdout == "")
        for word in words { #expect(output.stderr.contains(word), "\(output.stderr)") }
        #expect(access(session, F_OK) != 0, "no session is left behind")
    }

    @Test func notFound() throws {
        let directory = try TemporaryDirectory("refusal")
        try expectRefusal([directory.file("missing")], saying: ["missing", "no such file"], directory)
        try expectRefusal(["no-such-program-anywhere"], saying: ["no-such-program-anywhere", "not found"], directory)
    }

    @Test func notExecutable() throws {
        let directory = try TemporaryDirectory("refusal")
        let path = try directory.write("int main;", to: "plain.txt")
        try expectRefusal([path], saying: ["plain.txt", "chmod"], directory)
        try expectRefusal([directory.path], saying: ["directory"], directory)
    }

    @Test func notInstrumented() throws {
        let directory = try TemporaryDirectory("refusal")
        try run("gcc", ["-o", directory.file("plain"), "\(Binaries.sources)/fib.c"])
        try expectRefusal([directory.file("plain")], saying: ["-finstrument-functions"], directory)
    }

    /// A program that was recorded, and was built without hooks since.
    @Test func builtWithoutHooksSince() throws {
        let directory = try TemporaryDirectory("refusal")
        let record = { (flags: [String]) throws in
            try run("gcc", flags + ["-o", directory.file("prog"), "\(Binaries.sources)/fib.c"])
            return try Fathom.run(["record", "--", "./prog", "5"], workingDirectory: directory.path)
        }
        #expect(try record(["-finstrument-functions"]).status == 0)
        let refused = try record([])
        #expect(refused.status == 126)
        #expect(
            refused.stderr.contains("has no hooks any more: it had when prog.fathom was recorded"), "\(refused.stderr)")
        #expect(access(directory.file("prog.fathom"), F_OK) == 0)
        // Of a program of which nothing was recorded, nothing is known.
        let forced = ["record", "--force", "--", "./prog", "5"]
        #expect(try Fathom.run(forced, workingDirectory: directory.path).status == 0)
        #expect(try !record([]).stderr.contains("any more"))
    }

    /// Hooks of its own take the calls; nothing of it would be recorded.
    @Test func hooksOfItsOwn() throws {
        let directory = try TemporaryDirectory("refusal")
        let source = try directory.write(
            """
            __attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *s) { (void)f, (void)s; }
            __attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *s) { (void)f, (void)s; }
            int main(void) { return 0; }
            """, to: "own.c")
        try run("gcc", ["-finstrument-functions", source, "-o", directory.file("own")])
        try expectRefusal(
            [directory.file("own")], saying: ["own: has a function __cyg_profile_func_enter of its own"], directory)
        let forced = try Fathom.record(
            [directory.file("own")], into: directory.file("s"), options: ["--quiet", "--force"])
        #expect(forced.status == 0)
    }

    @Test func sharedLibrary() throws {
        let directory = try TemporaryDirectory("library")
        let source = try directory.write("int f(int x) { return x; }\n", to: "f.c")
        let library = directory.file("libf.so")
        let built = try Fathom.run(["build", "--", "gcc", "-g", "-fPIC", "-shared", source, "-o", library])
        #expect(built.status == 0, "\(built.stderr)")
        let recorded = try Fathom.record([library], into: directory.file("s.fathom"))
        #expect(recorded.status == 126 && recorded.stderr.contains("a shared library"), "\(recorded.stderr)")
        let doctor = try Fathom.run(["doctor", library])
        #expect(doctor.status == 0, "\(doctor.stdout)")
        #expect(doctor.stdout.contains("recorded with the programs that load it; 1 of 1 functions have hooks"))
    }

    @Test func staticWithoutRuntime() throws {
        let directory = try TemporaryDirectory("refusal")
        let binary = try Binaries.instrumented("fib.c", .gccO2, flags: ["-static"], variant: "-static")
        try expectRefusal([binary], saying: ["statically linked", "-static", "libfathom"], directory)
    }

    /// A program of musl, and a script whose interpreter is one.
    @Test(.enabled(if: access("/usr/bin/musl-gcc", X_OK) == 0))
    func musl() throws {
        let directory = try TemporaryDirectory("musl")
        let binary = directory.file("program")
        try run(
            "musl-gcc", ["-O2", "-finstrument-functions", "-o", binary, "-x", "c", "-"],
            input: """
                int main(void) { return 0; }
                void __cyg_profile_func_enter(void *f, void *s) {}
                void __cyg_profile_func_exit(void *f, void *s) {}
                """)
        try expectRefusal([binary], saying: ["program", "musl", "glibc"], directory)
        let script = try directory.write("#!\(binary)\n", to: "script")
        chmod(script, 0o755)
        try expectRefusal([script], saying: ["script", "musl"], directory)
    }

    /// A program of the caller's own gains nothing by the bit, so only root can make one that does.
    @Test(.enabled(if: Privilege.isRoot)) func setUserID() throws {
        let directory = try TemporaryDirectory("refusal")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        try run("cp", [binary, directory.file("privileged")])
        try #require(chown(directory.file("privileged"), 65534, 65534) == 0)
        chmod(directory.file("privileged"), 0o4755)
        try expectRefusal([directory.file("privileged")], saying: ["set-uid"], directory)
    }

    @Test func notAProgram() throws {
        let directory = try TemporaryDirectory("refusal")
        let path = try directory.write("\u{1}\u{2}\u{3} no program", to: "noise")
        chmod(path, 0o755)
        try expectRefusal([path], saying: ["noise"], directory)
    }

    /// A script is no ELF file, but what it starts is traced.
    @Test func scriptsRun() throws {
        let directory = try TemporaryDirectory("script")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let script = try directory.write(
            "#!/bin/sh\necho begin\n'\(binary)' 10\n'\(binary)' 11\nexit 3\n", to: "script")
        chmod(script, 0o755)
        let output = try Fathom.record([script], into: session)
        #expect(output.stdout == "begin\n55\n89\n")
        #expect(output.status == 3)
        #expect(try Dump(session).counts() == ["main": 2, "fib": 177 + 287])
    }
}
