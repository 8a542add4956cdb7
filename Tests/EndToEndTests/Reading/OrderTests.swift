import TestSupport
import Testing

/// `fathom order` writes what linkers read, and what it says it saves is what the linked program then has.
@Suite struct OrderTests {
    private let order = ["main", "second", "first", "third"]

    private func field(_ name: String, of part: String, in json: String) throws -> Double {
        let start = try #require(json.split(separator: "\"\(part)\":{").dropFirst().first)
        let value = try #require(start.split(separator: "\"\(name)\":").dropFirst().first)
        return try #require(Double(value.prefix { !",}".contains($0) }))
    }

    @Test(arguments: [("gold", "--linker=gold"), ("bfd", "--linker=bfd")])
    func linkedAgainNothingIsLeft(_ linker: String, _ option: String) throws {
        let directory = try TemporaryDirectory("order")
        let binary = try Binaries.instrumented("startup.c", .gccO2)
        let session = directory.file("startup.fathom")
        #expect(try Fathom.record([binary], into: session).status == 0)
        let source = "\(Binaries.sources)/startup.c"
        // The program that is shipped has no hooks.
        let shipped = directory.file("shipped")
        let flags = ["-O2", "-g", "-ffunction-sections", source]
        try #require(try run("gcc", flags + ["-o", shipped]).status == 0)

        let file = directory.file("order")
        let arguments = ["order", session, "--format", "json", "--program"]
        let before = try Fathom.run(arguments + [shipped, option, "-o", file])
        #expect(before.status == 0, "\(before.stderr)")
        let names = before.stdout.split(separator: "\n").drop { $0 != "\"functions\":[" }.dropFirst()
        #expect(names.map { $0.filter(\.isLetter) } == order, "\(before.stdout)")
        let (now, then) = (
            try field("now", of: "pages", in: before.stdout), try field("then", of: "pages", in: before.stdout)
        )
        #expect(now >= 3 && then <= 2, "\(before.stdout)")

        let flag = try #require(before.stderr.split(separator: "fathom: link with ").last).split(separator: "\n").at(0)
        let linked = directory.file("linked")
        let link = try run("gcc", flags + flag.split(separator: " ").map(String.init) + ["-o", linked])
        try #require(link.status == 0, "\(link.stderr)")
        #expect(try run(linked, []).stdout == run(shipped, []).stdout)
        let symbols = try run("nm", ["-n", linked]).stdout.split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        // gold keeps main with what runs once.
        #expect(symbols.filter { order.dropFirst().contains($0) } == Array(order.dropFirst()))
        let after = try Fathom.run(arguments + [linked])
        #expect(try field("saved", of: "pages", in: after.stdout) == 0, "\(after.stdout)")
        #expect(try field("now", of: "pages", in: after.stdout) <= then, "\(after.stdout)")
    }

    /// The order is the same, whichever linker it was written for and whichever the build uses.
    @Test(arguments: [("gcc", "gold", "lld"), ("gcc", "bfd", "gold"), ("clang", "lld", "bfd")])
    func buildsInAnOrder(_ compiler: String, _ linker: String, _ form: String) throws {
        let directory = try TemporaryDirectory("order")
        let section = { (name: String) in ".text.\(name)" }
        let text =
            switch form {
            case "lld": order.joined(separator: "\n") + "\n"
            case "gold": order.map(section).joined(separator: "\n") + "\n"
            default:
                "SECTIONS\n{\n  .text.ordered :\n  {\n"
                    + order.map { "    *(\(section($0)))\n" }.joined() + "  }\n}\nINSERT BEFORE .text;\n"
            }
        let file = try directory.write(text, to: "order"), linked = directory.file("linked")
        let source = "\(Binaries.sources)/startup.c"
        let built = try Fathom.run(
            [
                "build", "--order", file, "--", "sh", "-c",
                "\(compiler) -O2 -c \(source) -o startup.o && \(compiler) -fuse-ld=\(linker) -o \(linked) startup.o",
            ], workingDirectory: directory.path)
        #expect(
            built.status == 0 && built.stderr.contains("1 file compiled with a section for each function"), "\(built)")
        let symbols = try run("nm", ["-n", linked]).stdout.split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        // gold keeps main with what runs once.
        #expect(symbols.filter { order.dropFirst().contains($0) } == Array(order.dropFirst()), "\(symbols)")
        #expect(!symbols.contains("__cyg_profile_func_enter"))
        #expect(try run(linked, []).status == 0)
    }

    @Test func buildsInNoOrderThatIsNone() throws {
        let directory = try TemporaryDirectory("order")
        let file = try directory.write("not an order\n", to: "order")
        let none = try Fathom.run(["build", "--order", file, "--", "gcc", "--version"])
        #expect(none.status == 1 && none.stderr.contains("is no order of functions"), "\(none)")
        let both = try Fathom.run(["build", "--order", file, "--only", "x", "--", "gcc", "--version"])
        #expect(both.status == 64 && both.stderr.contains("--only is about hooks"), "\(both)")
    }

    /// Two builds of a program that differ in how many pages of their file a start touches.
    @Test func verifiesByStarts() throws {
        let directory = try TemporaryDirectory("order")
        let source = try directory.write(
            """
            #include <string.h>
            static const volatile char pages[400 << 12] = {1};
            int main(int count, char **words) {
                int sum = 0;
                for (long page = 0; page < PAGES; page++) sum += pages[page << 12];
                return count == 2 && !strcmp(words[1], "two words") ? sum - 1 : 3;
            }
            """, to: "touch.c")
        let (old, new) = (directory.file("old"), directory.file("new"))
        for (program, pages) in [(old, 400), (new, 20)] {
            try #require(try run("gcc", ["-O1", "-DPAGES=\(pages)", "-o", program, source]).status == 0)
        }
        let better = try Fathom.run(
            ["order", "--verify", old, new, "--runs", "5", "--format", "json", "--", "two words"])
        #expect(better.status == 0 && better.stdout.contains("\"better\":true"), "\(better)")
        let row = try #require(
            better.stdout.split(separator: "\n").first {
                $0.contains("\"start\":\"warm\",\"measure\":\"resident_pages\"")
            })
        func number(_ name: String) throws -> Double {
            let value = try #require(row.split(separator: "\"\(name)\":").dropFirst().first)
            return try #require(Double(value.prefix { !",}".contains($0) }))
        }
        #expect(try number("before") >= 400 && number("after") < 300 && number("high") < -100, "\(row)")
        let worse = try Fathom.run(["order", "--verify", new, old, "--runs", "5", "--", "two words"])
        #expect(
            worse.status == 1 && worse.stdout.contains("not better") && worse.stdout.contains("  worse"), "\(worse)")
        let one = try Fathom.run(["order", "--verify", new])
        #expect(one.status == 64 && one.stderr.contains("--verify takes two programs"), "\(one)")
        let gone = try Fathom.run(["order", "--verify", new, directory.file("gone")])
        #expect(gone.status == 2, "\(gone)")
    }

    @Test func severalRunsAndWrongUse() throws {
        let directory = try TemporaryDirectory("order")
        let binary = try Binaries.instrumented("startup.c", .gccO2)
        let sessions = (0..<3).map { directory.file("run\($0).fathom") }
        for (index, session) in sessions.enumerated() {
            let words = [String](repeating: "word", count: index == 2 ? 3 : 0)
            _ = try Fathom.record([binary] + words, into: session)
        }
        let text = try Fathom.run(["order", "--linker", "lld", "-o", "-"] + sessions).stdout.split(separator: "\n").map(
            String.init)
        #expect(text.sorted() == (order + ["unused_a", "unused_b", "unused_c"]).sorted() && text.first == "main")
        let report = try Fathom.run(["order", "--compat"] + sessions).stdout
        #expect(
            report.contains("of 3 runs\n") && report.contains("runs left out:") && report.contains("pages of 16 KiB:"))
        let early = try Fathom.run(["order", "-o", "-", "--to", "0s", sessions[0]])
        #expect(early.status == 1 && early.stderr.contains("no calls are left by the filters"), "\(early)")

        let other = try Fathom.run(["order", sessions[0], "--module", "other"])
        #expect(other.status == 1 && other.stderr.contains("no module with hooks matches 'other'"), "\(other)")
        let missing = try Fathom.run(["order", sessions[0], "--program", directory.file("missing")])
        #expect(missing.status == 2 && missing.stderr.contains("missing is gone"), "\(missing)")
        let mold = try Fathom.run(["order", sessions[0], "--linker", "mold"])
        #expect(mold.status == 64 && mold.stderr.contains("lld"), "\(mold)")
    }

    /// An order is written for the linker that made the program, and whoever asks for another one is told.
    @Test(arguments: [("gcc", "bfd", "-Wl,-T,"), ("gcc", "gold", "-fuse-ld=gold"), ("clang", "lld", "-fuse-ld=lld")])
    func theProgramsOwnLinker(_ compiler: String, _ linker: String, _ flag: String) throws {
        let directory = try TemporaryDirectory("order")
        let session = directory.file("s.fathom"), program = directory.file("p"), file = directory.file("o")
        let source = "\(Binaries.sources)/startup.c"
        let built = try run(
            compiler, ["-O2", "-g", "-fuse-ld=\(linker)", "-finstrument-functions", source, "-o", program])
        try #require(built.status == 0, "\(built.stderr)")
        #expect(try Fathom.record([program], into: session).status == 0)
        let own = try Fathom.run(["order", session, "-o", file])
        #expect(own.status == 0 && own.stderr.contains("link with \(flag)"), "\(own.stderr)")
        #expect(!own.stderr.contains("was linked by"))
        let asked = linker == "lld" ? "gold" : "lld"
        let other = try Fathom.run(["order", session, "-o", file, "--linker", asked])
        #expect(
            other.stderr.contains("p was linked by \(linker == "bfd" ? "GNU ld" : linker), and another"),
            "\(other.stderr)")
    }

    /// A build in order takes each compiler's own linker, be it the default or one that an option names.
    @Test(arguments: [
        ["gcc"], ["gcc", "-fuse-ld=gold"], ["gcc", "-fuse-ld=bfd"], ["clang"], ["clang", "-fuse-ld=lld"],
        ["clang", "-fuse-ld=bfd"],
    ])
    func eachLinker(_ compiler: [String]) throws {
        let directory = try TemporaryDirectory("order")
        try directory.write("main\nlast\nfirst\n", to: "o.order")
        try directory.write(
            """
            __attribute__((noinline)) int first(int x) { return x; }
            __attribute__((noinline)) int middle(int x) { return x + 1; }
            __attribute__((noinline)) int last(int x) { return x + 2; }
            int main(int count, char **words) { (void)words; return first(middle(last(count - 1))) - 3; }

            """, to: "p.c")
        let command = ["build", "--order", "o.order", "--"] + compiler + ["-O1", "-fno-inline", "p.c", "-o", "p"]
        let built = try Fathom.run(command, workingDirectory: directory.path)
        #expect(built.status == 0, "\(built.stderr)")
        let symbols = try run("nm", ["-n", directory.file("p")]).stdout.split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        let own = symbols.filter { ["main", "last", "first"].contains($0) }
        #expect(own == ["main", "last", "first"], "\(symbols)")
    }
}
