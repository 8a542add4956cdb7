import TestSupport
import Testing

/// Programs with a sanitizer, whose functions stand before those of the C library, and which begins when it wants to.
@Suite struct SanitizedProgramTests {
    /// A compiler, its options, and whether the program itself has options for the address sanitizer.
    private static let kinds: [(String, [String], Bool)] = [
        ("gcc", ["-fsanitize=address"], false), ("gcc", ["-fsanitize=address"], true),
        ("gcc", ["-fsanitize=address", "-Wl,-z,now"], true), ("gcc", ["-fsanitize=address", "-static-libasan"], false),
        ("gcc", ["-fsanitize=thread"], false), ("gcc", ["-fsanitize=thread", "-static-libtsan"], false),
        ("gcc", ["-fsanitize=undefined"], false), ("gcc", ["-fsanitize=leak"], false),
        ("clang", ["-fsanitize=address"], true), ("clang", ["-fsanitize=undefined"], false),
        ("clang-14", ["-fsanitize=thread"], false),
    ]

    /// Whoever starts the program, and whatever environment it gets.
    @Test(arguments: kinds, [["-finstrument-functions"], []])
    func startedByOthers(_ kind: (String, [String], Bool), _ hooks: [String]) throws {
        let (compiler, options, hasOptions) = kind
        try #require(Toolchain.isInstalled(compiler))
        let directory = try TemporaryDirectory("sanitized")
        let own = "const char *__asan_default_options(void) { return \"exitcode=7:detect_leaks=0\"; }\n"
        let source = try directory.write((hasOptions ? own : "") + Self.source, to: "prog.c")
        let program = directory.file("prog")
        let compiled = try run(compiler, ["-g", "-O1"] + options + hooks + [source, "-o", program, "-lpthread"])
        try #require(compiled.status == 0, "\(compiled.stderr)")
        let starters = [
            "\"$0\"", "ASAN_OPTIONS=detect_stack_use_after_return=1 \"$0\"", "env -i \"$0\"", "LD_BIND_NOW=1 \"$0\"",
            "ASAN_OPTIONS=\"${ASAN_OPTIONS:-none}\"; echo $ASAN_OPTIONS",
        ]
        let script = starters.joined(separator: "; echo $?; ")
        let session = directory.file("session.fathom")
        let plain = try run("sh", ["-c", script, program])
        let recorded = try Fathom.record(
            ["sh", "-c", script, program], into: session, options: ["--quiet", "--force"])
        #expect(recorded.stdout == plain.stdout && recorded.stdout.contains("0\n"), "\(recorded.stderr)")
        #expect(recorded.stderr == plain.stderr)
        if !hooks.isEmpty {
            let counts = try Dump(session).counts()
            #expect(counts["main"] == 4 && counts["work"] == 4, "\(counts)")
        }
        let direct = try Fathom.record([program], into: session, options: ["--quiet", "--force"])
        #expect(direct.status == 0 && direct.stdout == "work\n", "\(direct.stderr)")
    }

    /// The thread sanitizer blocks SIGTRAP in the kernel while the program's handlers run.
    @Test(arguments: [[], ["-static-libtsan"]]) func firstCallsWithoutSignals(_ options: [String]) throws {
        let directory = try TemporaryDirectory("sanitized")
        let source = try directory.write(
            """
            #include <signal.h>
            static void twice(int number) { (void)number; }
            static void handler(int number) { twice(number); }
            int main(void) { signal(SIGUSR1, handler); return raise(SIGUSR1); }
            """, to: "prog.c")
        let program = directory.file("prog"), session = directory.file("session.fathom")
        let compiled = try run("gcc", ["-g", "-fsanitize=thread"] + options + [source, "-o", program])
        try #require(compiled.status == 0, "\(compiled.stderr)")
        let refused = try Fathom.record([program], into: session, options: ["--first-calls"])
        #expect(refused.status == 126 && refused.stderr.contains("the thread sanitizer blocks all signals"))
        // Started by another program, it has no traps.
        let started = try Fathom.record(
            ["sh", "-c", "\"$0\"; echo $?", program], into: session, options: ["--first-calls"])
        #expect(started.stdout == "0\n", "\(started.stderr)")
    }

    private static let source = """
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static void *work(void *text) { return text; }
        int main(void) {
            pthread_t thread;
            void *result;
            char *text = strdup("work");
            pthread_create(&thread, NULL, work, text);
            pthread_join(thread, &result);
            puts(result);
            free(text);
            return 0;
        }

        """
}
