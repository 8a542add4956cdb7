import TestSupport
import Testing

/// `fathom tree --watch` shows a program's calls as InspectiveC would.
@Suite struct WatchTests {
    private static let once = """
        #ifdef __clang__
        #define NOINLINE __attribute__((noinline))
        #else
        #define NOINLINE __attribute__((noipa))
        #endif
        static volatile int steps;
        NOINLINE static void z(void) { steps++; }
        NOINLINE static void y(void) { z(); steps++; }
        NOINLINE static void x(void) { y(); steps++; }
        NOINLINE static void W(int deep) { if (deep) x(); steps++; }
        NOINLINE static void c(void) { steps++; }
        NOINLINE static void b(void) { W(1); c(); W(0); steps++; }
        NOINLINE static void a(void) { b(); steps++; }
        NOINLINE static void d(void) { steps++; }
        int main(void) { a(); d(); }

        """
    private static let nested = """
        #ifdef __clang__
        #define NOINLINE __attribute__((noinline))
        #else
        #define NOINLINE __attribute__((noipa))
        #endif
        static volatile int steps;
        NOINLINE static void q(void) { steps++; }
        NOINLINE static void r(void) { steps++; }
        NOINLINE static void s(void) { steps++; }
        static void p(void);
        NOINLINE static void W(int outer) { if (outer) { p(); s(); } else q(); steps++; }
        NOINLINE static void p(void) { W(0); r(); steps++; }
        int main(void) { W(1); }

        """

    /// What the tree shows, without its heading and its columns of numbers.
    private func lines(_ session: String, _ options: [String]) throws -> String {
        let output = try Fathom.run(["tree", session] + options)
        #expect(output.status == 0, "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").dropFirst()
        let column = try #require(lines.first).count - "call".count
        return lines.dropFirst().map { String($0.dropFirst(column)) }.joined(separator: "\n")
    }

    @Test(arguments: Build.all) func threeTrees(_ build: Build) throws {
        let directory = try TemporaryDirectory("watch")
        func record(_ source: String, _ name: String) throws -> String {
            let program = try Toolchain.compile(
                sources: ["\(name).c": source], compiler: build.compiler == .gcc ? .gcc : .clang,
                flags: ["-finstrument-functions", "-O\(build.level)", "-fno-optimize-sibling-calls"],
                output: directory.file(name))
            let session = directory.file("\(name).fathom")
            #expect(try Fathom.record([program], into: session).status == 0)
            return session
        }
        let once = try record(Self.once, "once")
        #expect(
            try lines(once, ["--watch", "W", "--relative-depth", "1"]) == """
                -|main|
                  -|a|
                    -|b|
                      ***-|W|***
                        -|x|
                      ***-|W|***
                """)
        #expect(
            try lines(once, ["--watch", "W", "--relative-depth", "64"]) == """
                -|main|
                  -|a|
                    -|b|
                      ***-|W|***
                        -|x|
                          -|y|
                            -|z|
                      ***-|W|***
                """)
        let nested = try record(Self.nested, "nested")
        #expect(
            try lines(nested, ["--watch", "W", "--relative-depth", "1"]) == """
                -|main|
                  ***-|W|***
                    -|p|
                      ***-|W|***
                        -|q|
                    -|s|
                """)
        #expect(
            try lines(once, ["--complete"]) == """
                -|main|
                  -|a|
                    -|b|
                      -|W|
                        -|x|
                          -|y|
                            -|z|
                      -|c|
                      -|W|
                  -|d|
                """)
        let json = try Fathom.run(["tree", once, "--watch", "W", "--format", "json"]).stdout
        #expect(json.split(separator: "\"watched\":true").count == 3 && json.contains("\"name\":\"main\""))
        #expect(!json.contains("\"name\":\"c\""))
    }

    @Test func wrongUse() throws {
        let directory = try TemporaryDirectory("watch")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "5"], into: session)
        for (options, status, reason) in [
            (["--watch", "fbi"], 1, "no function matches 'fbi'; did you mean fib?"),
            (["--relative-depth", "3"], 64, "--relative-depth is of a watch list"),
            (
                ["--watch", "fib", "--relative-depth", "65"], 64,
                "--relative-depth 65: a watch list goes 64 levels deep"
            ),
        ] as [([String], Int32, String)] {
            let output = try Fathom.run(["tree", session] + options)
            #expect(output.status == status && output.stdout.isEmpty)
            #expect(output.stderr.split(separator: "\n").first?.contains(reason) == true, "\(output.stderr)")
        }
    }
}
