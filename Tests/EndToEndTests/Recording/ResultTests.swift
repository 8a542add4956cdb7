import TestSupport
import Testing

/// Arguments and results of calls that sleds see are what the program itself says.
@Suite struct ResultTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("results") }

    /// Generated programs of 60 functions with arguments, and 30 with results, of every type; see `Tools/arguments`.
    @Test(
        arguments: ["c", "cpp"],
        ["gcc-O0", "gcc-O2", "gcc-O3", "clang-O0", "clang-O2", "clang-O3"])
    func everyType(_ language: String, _ build: String) throws {
        try ArgumentTests.expectRight(["1", "--dormant", "--functions", "60"], language, build)
    }

    @Test(arguments: ["swiftc-Onone", "swiftc-O"]) func everySwiftType(_ build: String) throws {
        try ArgumentTests.expectRight(["1", "--dormant", "--functions", "60"], "swift", build)
    }

    private func build(_ source: String, _ command: [String]) throws {
        let file = command[0].hasSuffix("++") ? "program.cpp" : command[0] == "swiftc" ? "program.swift" : "program.c"
        try writeFile(Array(source.utf8), to: directory.file(file))
        let built = try Fathom.run(
            ["build", "--dormant", "--"] + command + ["-g", file, "-o", "program"], workingDirectory: directory.path)
        try #require(built.status == 0, "\(built.stderr)")
    }

    private func record(_ options: [String]) throws -> ProcessOutput {
        let output = try Fathom.record([directory.file("program")], into: directory.file("s.fathom"), options: options)
        #expect(output.status == 0, "\(output.stderr)")
        return output
    }

    private func tree(_ options: [String] = ["--no-fold"]) throws -> String {
        try Fathom.run(["tree", directory.file("s.fathom")] + options).stdout
    }

    private static let ways = """
        #include <stdexcept>
        #include <string>
        #include <cstdio>
        struct point { long x; double y; };
        struct nine { long all[9]; };
        enum class mood { calm, wild = 7 };
        static volatile int sink;
        #define APART __attribute__((noinline))
        APART int last(int n) { sink += n; return n + 1; }
        APART int tail(int n) { sink++; return last(n * 2); }
        APART int thrower(int n) { if (n > 1) throw std::runtime_error("no"); return n; }
        APART int through(int n) { std::string s(40, 'a'); return thrower(n) + (int)s.size(); }
        APART const char *text(const char *t) { sink++; return t; }
        APART std::string twice(const std::string &s) { return s + s; }
        APART point move(point p, float by) { return {p.x + 1, p.y + by}; }
        APART long fourth(nine n, mood m, int &count) { count++; return n.all[4] + (long)m; }
        APART mood other(mood m) { sink++; return m == mood::calm ? mood::wild : mood::calm; }
        APART bool odd(int n) { sink++; return n % 2; }
        APART void nothing(int n) { sink = n; }
        struct box { int n; APART box *self(int k) { n += k; return this; } };
        int main() {
            int count = 5;
            box b{1};
            printf("%d\\n", tail(3));
            try { printf("%d\\n", through(1)); through(2); } catch (const std::exception &) { }
            printf("%d\\n", text((const char *)0x1000) != nullptr);
            puts(twice("a+b").c_str());
            printf("%g\\n", move({4, 2.5}, 1.f).y);
            printf("%ld\\n", fourth({{0, 1, 2, 3, 40}}, mood::wild, count));
            printf("%d %d\\n", other(mood::calm) == mood::wild, odd(3));
            nothing(6);
            printf("%d\\n", b.self(2)->n);
        }

        """

    @Test(arguments: ["g++", "clang++"], ["-O0", "-O2"]) func waysToReturn(_ compiler: String, _ level: String) throws {
        try build(Self.ways, [compiler, "-std=c++17", level])
        let plain = try run(directory.file("program"), []).stdout
        let recorded = try record(["-q", "--args", "/./", "--returns", "/./"])
        #expect(recorded.stdout == plain)
        let lines = try tree()
        for call in [
            "last(n=6) = 7\n", "through(n=1) = 41\n", "thrower(n=1) = 1\n", "text(t=<unreadable>) = <unreadable>\n",
            "twice(s=\"a+b\") = \"a+ba+b\"\n", "= {x=5, y=3.5}\n", "m=wild, count=5) = 47\n", "other(m=calm) = wild\n",
            "odd(n=3) = true\n", "nothing(n=6)\n", "k=2) = 0x",
        ] { #expect(lines.contains(call), "\(call) \(lines)") }
        for function in ["thrower", "through"] {
            let thrown = lines.split(separator: "\n").filter { $0.contains("\(function)(n=2)") }
            #expect(thrown.count == 1 && !thrown.contains { $0.contains(") = ") }, "\(lines)")
        }
        // Optimised, it ends before the other function begins.
        let tail = try #require(lines.split(separator: "\n").first { $0.contains("tail(n=3)") })
        #expect(level == "-O0" ? tail.hasSuffix(" = 7") : !tail.contains(") = "), "\(tail)")
    }

    @Test func formats() throws {
        try build(Self.ways, ["g++", "-std=c++17", "-O2"])
        _ = try record(["-q", "--returns", "twice*"])
        let session = directory.file("s.fathom"), value = "\"\\\"a+ba+b\\\"\""
        #expect(try tree(["--format", "json"]).contains("\"returned\":\(value)"))
        #expect(try Fathom.run(["dump", session]).stdout.contains("\"a+ba+b\""))
        #expect(try Fathom.run(["dump", session, "--format", "jsonl"]).stdout.contains("\"returned\":\(value)"))
        for (format, text) in [("chrome", "\"args\":{\"returned\":\(value)}"), ("perfetto", "\"a+ba+b\"")] {
            let file = directory.file("file.\(format)")
            #expect(try Fathom.run(["export", session, "--format", format, "-o", file]).status == 0)
            #expect(String(decoding: try readFile(file), as: UTF8.self).contains(text))
        }
    }

    @Test(arguments: ["-Onone", "-O"]) func swift(_ level: String) throws {
        let source = """
            final class Box { var n = 1 }
            @inline(never) func work(_ number: Int, _ half: Double, _ text: String, _ flag: Bool, _ box: Box) -> String {
                print(number, half, text, flag, box.n)
                return text + "!"
            }
            @inline(never) func half(_ n: Int) -> Double { print(n); return Double(n) / 2 }
            enum Failure: Error { case bad }
            @inline(never) func fails(_ n: Int) throws -> Int { if n > 5 { throw Failure.bad }; print(n); return n }
            let count = CommandLine.arguments.count
            print(work(count + 6, Double(count) / 4, count > 9 ? "?" : "short", count == 1, Box()), half(count + 2))
            print(try fails(count), (try? fails(count + 8)) as Any)

            """
        try build(source, ["swiftc", level])
        _ = try record(["-q", "--args", "/work|half|fails/", "--returns", "/work|half|fails/"])
        let lines = try tree()
        #expect(lines.contains("(number=7, half=0.25, text=\"short\", flag=true, box=0x"), "\(lines)")
        #expect(lines.contains(") = \"short!\""), "\(lines)")
        #expect(lines.contains("(n=3) = 1.5"), "\(lines)")
        #expect(
            lines.contains("(n=9) = <unknown: it may throw>") && lines.contains("(n=1) = <unknown: it may throw>"),
            "\(lines)")
    }

    /// What `_init` and other functions of the start files return is not asked of hooks.
    @Test func startFilesAreNotRefused() throws {
        try build("int one(void) { return 1; }\nint main(void) { return one() - 1; }\n", ["gcc"])
        let output = try record(["--returns", "*"])
        #expect(!output.stderr.contains("cannot be asked"), "\(output.stderr)")
        #expect(try tree().contains("one = 1\n"))
    }

    private static let hooked = """
        #include <setjmp.h>
        #include <stdio.h>
        static jmp_buf out;
        int add(int a, int b) { return a + b; }
        double half(double x) { return x / 2; }
        const char *name(int n) { return n ? "one" : "none"; }
        int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
        static inline int inner(int x) { return x * 3; }
        int outer(int x) { return inner(x) + inner(x + 1); }
        int away(int n) {
            if (n == 0) longjmp(out, 1);
            return away(n - 1) + 1;
        }
        int main(void) {
            int sum = add(2, 3) + (int)half(9) + fact(5) + outer(5);
            for (int i = 0; i < 100; i++)
                if (!setjmp(out)) sum += away(3);
            printf("%d %s\\n", sum, name(1));
            return 4;
        }
        """

    /// Functions with hooks get detours for their results, whatever becomes of their calls; inlined ones have none.
    @Test(arguments: [Toolchain.Compiler.gcc, .clang], ["-O0", "-O2"])
    func besideHooks(_ compiler: Toolchain.Compiler, _ level: String) throws {
        let program = try Toolchain.compile(
            sources: ["program.c": Self.hooked], compiler: compiler,
            flags: ["-g", "-w", "-finstrument-functions", level], output: directory.file("program"))
        let session = directory.file("s.fathom")
        let plain = try TestSupport.run(program, [])
        let output = try Fathom.record(
            [program], into: session, options: ["--quiet", "--returns", "*", "--args", "add", "--args", "fact"])
        #expect(output.status == 4 && output.stdout == plain.stdout && output.stderr.isEmpty, "\(output.stderr)")
        let check = try Fathom.run(["info", "--check", session])
        #expect(check.status == 0, "\(check.stdout)")
        let tree = try Fathom.run(["tree", session]).stdout
        #expect(tree.contains("main = 4\n") && tree.contains("fact(n=5) = 120"), "\(tree)")
        if level == "-O0" {
            for call in [
                "add(a=2, b=3) = 5", "half = 4.5", "name = \"one\"", "fact(n=1) = 1", "outer = 33", "inner = 1",
            ] {
                #expect(tree.contains(call), "\(call) in \(tree)")
            }
        }
        let report = try Fathom.run(["report", "--format", "csv", "--limit", "0", session]).stdout
        #expect(report.contains("away") && report.contains(",400,"), "\(report)")
    }

    /// Of a program whose functions cannot have detours, here as if it was built for gprof, hooks see no results.
    @Test func hooksAreRefused() throws {
        let program = try Toolchain.compile(
            sources: [
                "program.c": """
                extern void mcount(void) __attribute__((weak));
                void *used = (void *)mcount;
                int one(void) { return 1; }
                int main(void) { return one() - 1; }
                """
            ],
            compiler: .gcc, flags: ["-g", "-finstrument-functions"], libraries: [],
            output: directory.file("program"))
        let output = try Fathom.record([program], into: directory.file("s.fathom"), options: ["--returns", "one"])
        #expect(output.status == 0)
        #expect(output.stderr.contains("--returns: one cannot be asked for results"), "\(output.stderr)")
        #expect(output.stderr.contains("fathom build --dormant"), "\(output.stderr)")
    }
}
