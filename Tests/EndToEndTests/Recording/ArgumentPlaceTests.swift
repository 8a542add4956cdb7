import TestSupport
import Testing

/// What is shown of an argument is what the function was called with, or nothing.
@Suite struct ArgumentPlaceTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("places") }

    private func build(_ source: String, _ command: [String], isDormant: Bool = false) throws {
        let file = command[0].hasSuffix("++") ? "program.cpp" : command[0] == "swiftc" ? "program.swift" : "program.c"
        try writeFile(Array(source.utf8), to: directory.file(file))
        let built = try Fathom.run(
            ["build"] + (isDormant ? ["--dormant"] : []) + ["--"] + command + ["-g", file, "-o", "program"],
            workingDirectory: directory.path)
        try #require(built.status == 0, "\(built.stderr)")
    }

    private func record(_ options: [String]) throws -> ProcessOutput {
        let output = try Fathom.record([directory.file("program")], into: directory.file("s.fathom"), options: options)
        #expect(output.status == 0, "\(output.stderr)")
        return output
    }

    private func tree() throws -> String {
        try Fathom.run(["tree", directory.file("s.fathom"), "--no-fold"]).stdout
    }

    /// Each function is called with 1, 2 and 3, and does something to what it was called with.
    private static let careless = """
        typedef long number;
        void *volatile sink;
        volatile int count;
        #define APART __attribute__((noinline))
        #define QUIET __attribute__((noinline, no_instrument_function))
        QUIET void escape(void *thing) { sink = thing; }
        APART number escaping(number a, int b, number c) { escape(&a); escape(&b); return a + b + c; }
        APART number overwritten(number a, number b, number c) { a = b; escape(&a); count++; return a + c; }
        APART number raised(number a, number b, number c) { a++; b += a; c = 7; escape(&c); count++; return a + b + c; }
        APART number sometimes(number a, number b, number c) { if (count > 100) a = c; escape(&a); return a + b; }
        APART number kept(number a, number b, number c) { sink = &a; count++; return a - b + c; }
        APART number unread(number a, number b, number c) { count++; (void)a, (void)b; return c; }
        static inline number within(number a, number b, number c) { a = 9; escape(&a); b = c; count++; return a + b; }
        static APART number alone(number a, number b, number c) { a = c; escape(&a); count++; return a; }
        int main(void) {
            number sum = escaping(1, 2, 3) + overwritten(1, 2, 3) + raised(1, 2, 3) + sometimes(1, 2, 3) + kept(1, 2, 3);
            return sum + unread(1, 2, 3) + within(1, 2, 3) + alone(1, 2, 3) == 0;
        }

        """

    private static let functions = [
        "escaping", "overwritten", "raised", "sometimes", "kept", "unread", "within", "alone",
    ]

    @Test(
        arguments: [
            ["gcc", "-O0"], ["gcc", "-O2"], ["gcc", "-Os"], ["gcc", "-O2", "-fno-omit-frame-pointer"],
            ["clang", "-O0"],
            ["clang", "-O1"], ["clang", "-O2"], ["clang", "-Os", "-fno-omit-frame-pointer"],
            ["clang", "-O2", "-fno-pie", "-no-pie"], ["clang", "-O1", "-march=native"],
        ], [false, true])
    func nothingWrong(_ command: [String], _ isDormant: Bool) throws {
        try build(Self.careless, command, isDormant: isDormant)
        _ = try record(["-q", "--args", "/\(Self.functions.joined(separator: "|"))/"])
        let lines = try tree()
        var calls = 0
        for line in lines.split(separator: "\n") {
            guard let name = Self.functions.first(where: { line.contains(" \($0)") }) else { continue }
            calls += 1
            for (argument, value) in [("a", 1), ("b", 2), ("c", 3)] {
                let shown = line.split(separator: "\(argument)=", maxSplits: 1).last.map {
                    $0.prefix { !",)".contains($0) }
                }
                #expect(shown == "\(value)" || shown?.hasPrefix("<") == true, "\(name): \(line)")
            }
        }
        #expect(calls >= (isDormant ? 7 : 8), "\(lines)")
        if command.contains("-O0") || !command.contains("gcc") {
            #expect(lines.contains("escaping(a=1, b=2, c=3)"), "\(lines)")
        }
    }

    private static let values = """
        #include <string>
        #define APART __attribute__((noinline))
        struct inner { short x; const char *label; };
        struct base { int b; };
        struct thing : base { long a; double d; inner in; char name[8]; unsigned bits : 5; };
        struct two { int x, y; };
        static volatile int sink;
        APART int whole(thing p, two t) { sink++; return p.in.x + t.x + t.y + p.name[0]; }
        APART int referred(const thing &p, const two &t) { sink++; return p.in.x + t.x + t.y; }
        APART int texts(unsigned char *u, const wchar_t *w, const char16_t *c) { sink++; return u[0] + w[0] + c[0]; }
        APART int member(thing *p) { sink++; return p->name[0]; }
        struct ending { int a = 5; APART ~ending() { sink += a; } APART std::string made(int n) { sink += a; return std::string(n, 'r'); } };
        APART int taken(ending e, int n) { sink++; return e.a + n; }
        int main() {
            thing p{};
            p.b = 1, p.a = 2, p.d = 3.5, p.in = {4, "label"}, p.bits = 17, p.name[0] = 'n';
            two t{7, sink - 8};
            unsigned char u[] = "bytes\\xff";
            int sum = whole(p, t) + referred(p, t) + texts(u, L"wide\\u20ac", u"sixteen") + member(&p);
            ending e;
            return (sum + (int)e.made(3 + sink).size() + taken(ending(), 12)) == 0;
        }

        """

    /// Structures, their arrays of characters, texts of other characters, what destructors and functions that return a class get.
    @Test(arguments: ["g++", "clang++"], ["-O0", "-O2"]) func typesOfValues(_ compiler: String, _ level: String) throws
    {
        for isDormant in [false, true] {
            try build(Self.values, [compiler, level, "-std=c++17", "-w"], isDormant: isDormant)
            _ = try? run("rm", ["-r", directory.file("s.fathom")])
            _ = try record(["-q", "--args", "/./", "--args", "member:p->name,p->in"])
            let lines = try tree()
            let thing = "{b=1, a=2, d=3.5, in={x=4, label=\"label\"}, name=\"n\", bits=17}"
            // clang at -O2 says nothing of the halves of a register.
            let two = compiler == "clang++" && level == "-O2" ? "<optimized out>" : "{x=7, y=-8}"
            for text in [
                "whole(p=\(thing), t=\(two))", "referred(p=\(thing), t={x=7, y=-8})",
                "texts(u=\"bytes\\xff\", w=\"wide€\", c=\"sixteen\")", "p->name=\"n\", p->in={x=4, label=\"label\"})",
                "taken(e={a=5}, n=12)",
            ] { #expect(lines.contains(text), "\(text) \(lines)") }
            guard level == "-O0" else { continue }
            #expect(lines.contains("made(this=0x") && lines.contains("~ending(this=0x"), "\(lines)")
        }
    }

    @Test(arguments: ["-Onone", "-O"], [false, true]) func swiftEnumerations(_ level: String, _ isDormant: Bool) throws
    {
        let source = """
            enum Mood { case calm, wild, angry }
            struct Outer { enum Kind: String { case one, two } }
            enum Load { case number(Int), none }
            final class Box { var n = 1; @inline(never) func say(_ m: Mood) { print(m, n) } }
            @inline(never) func take(_ m: Mood, _ k: Outer.Kind, _ load: Load, _ n: Int) { print(m, k, load, n) }
            take(.wild, .two, .number(4), CommandLine.arguments.count)
            Box().say(.angry)

            """
        try build(source, ["swiftc", level], isDormant: isDormant)
        _ = try record(["-q", "--args", "/take|say/"])
        let lines = try tree()
        #expect(lines.contains("(m=wild, k=two, load="), "\(lines)")
        #expect(lines.contains("n=1)") && lines.contains("(m=angry"), "\(lines)")
    }

    /// Hooks report such a function by the entry of the linkage table that leads to what its resolver has chosen.
    @Test(arguments: [["-O2"], ["-O0", "-fcf-protection=full"], ["-O2", "-fno-pie", "-no-pie"]])
    func clonesForProcessors(_ flags: [String]) throws {
        let source = """
            #include <stdio.h>
            __attribute__((target_clones("avx2", "default"))) int scale(int x) { return x * 3; }
            static int chosen_one(int x) { return x + 1; }
            static int (*resolve(void))(int) { return chosen_one; }
            int chosen(int x) __attribute__((ifunc("resolve")));
            int main(int argc, char **argv) { printf("%d\\n", scale(argc + 1) + chosen(argc)); (void)argv; return 0; }

            """
        try build(source, ["gcc"] + flags)
        _ = try record(["-q", "-F", "scale*", "--args", "scale"])
        let lines = try tree()
        #expect(lines.contains(" scale(x=2)\n"), "\(lines)")
        #expect(!lines.contains(" main\n"), "\(lines)")
        _ = try run("rm", ["-r", directory.file("s.fathom")])
        _ = try record(["-q"])
        let report = try Fathom.run(["report", directory.file("s.fathom"), "--format", "csv"]).stdout
        #expect(report.contains("\nscale,"), "\(report)")
        #expect(!report.contains("+0x"), "\(report)")
    }

    /// Where debug information has no arguments, that is said once.
    @Test(arguments: ["gcc", "clang"]) func nothingToShow(_ compiler: String) throws {
        let source = """
            __attribute__((noinline)) int take(int n) { return n; }
            int main(void) { return take(3) - 3; }

            """
        try writeFile(Array(source.utf8), to: directory.file("program.c"))
        func warnings(_ flags: [String], without files: String? = nil) throws -> [Substring] {
            _ = try? run("rm", ["-r", directory.file("s.fathom")])
            let built = try Fathom.run(
                ["build", "--", compiler] + flags + ["program.c", "-o", "program"], workingDirectory: directory.path)
            try #require(built.status == 0, "\(built.stderr)")
            if let files { _ = try run("find", [directory.path, "-name", files, "-delete"]) }
            return try record(["--args", "take"]).stderr.split(separator: "\n").filter {
                $0.contains("warning: --args")
            }
        }
        let lines = try warnings(["-g1"])
        #expect(lines.count == 1 && lines[0].contains("take has no arguments; compile with -g"), "\(lines)")
        #expect(try warnings(["-g", "-gsplit-dwarf"]).isEmpty)
        let split = try warnings(["-g", "-gsplit-dwarf"], without: "*.dwo")
        #expect(split.count == 1 && split[0].contains(".dwo, which is not there"), "\(split)")
    }
}
