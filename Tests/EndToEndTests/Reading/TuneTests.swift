internal import Glibc
import TestSupport
import Testing

/// `fathom tune` proposes what the next build leaves out, and that build leaves out just that.
@Suite struct TuneTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("tune") }

    private func build(_ compiler: String, _ options: [String] = []) throws -> String {
        let program = directory.file("steps")
        let built = try Fathom.run(
            ["build"] + options + ["--", compiler, "-O1", "-o", program, "\(Binaries.sources)/steps.c"],
            environment: ["XDG_CACHE_HOME": directory.file("cache")])
        #expect(built.status == 0, "\(built.stderr)")
        return program
    }

    private func calls(_ program: String) throws -> [String: Int] {
        let session = directory.file("x.fathom")
        #expect(try Fathom.record([program], into: session).status == 0)
        return try Dump(session).counts()
    }

    private func tune(_ options: [String]) throws -> ProcessOutput {
        try Fathom.run(["tune", directory.file("x.fathom")] + options)
    }

    /// However slow the machine: nothing takes an hour, and a list that may lose everything has the most called function.
    @Test(arguments: ["gcc", "clang"]) func theNextBuildLeavesOutTheList(_ compiler: String) throws {
        let before = try calls(try build(compiler))
        #expect(before == ["main": 1, "run": 1, "block": 200, "step": 22_000, "step_twice": 2000])
        let list = directory.file("list")
        let tuned = try tune(["--keep", "0", "--shorter-than", "60m", "-o", list])
        #expect(tuned.status == 0, "\(tuned.stderr)")
        #expect(tuned.stdout == "")
        #expect(tuned.stderr.contains("fathom: calls: 24,202, then "))
        #expect(tuned.stderr.contains("(assumed: record --baseline measures it)"))
        #expect(tuned.stderr.hasSuffix("next: fathom build --exclude-list \(list) -- COMMAND\n"))
        let text = String(decoding: try readFile(list), as: UTF8.self)
        let names = Set(
            text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.prefix { $0 != " " }) })
        // gcc takes step for a part of step_twice; the list has clang do the same.
        #expect(names.isSuperset(of: ["step", "step_twice"]))
        #expect(!names.contains("main"))
        #expect(try calls(try build(compiler, ["--exclude-list", list])) == before.filter { !names.contains($0.key) })
    }

    /// Among a system's headers count those whose functions the C++ library exports, where no file is known.
    @Test(arguments: ["g++", "clang++"]) func systemHeadersGo(_ compiler: String) throws {
        let source = try directory.write(
            """
            #include <sstream>
            #include <string>
            #include <vector>
            __attribute__((noinline)) static std::string repeat(std::string const &part, int count) {
                std::string all;
                while (count-- > 0) { all += part; all.push_back('x'); }
                return all;
            }
            int main() {
                std::vector<std::string> parts;
                for (int i = 0; i < 20; i++) { std::ostringstream out; out << repeat("ab", i); parts.push_back(out.str()); }
                return parts.size() != 20;
            }
            """, to: "text.cpp")
        let program = directory.file("text")
        func calls(_ options: [String]) throws -> [String: Int] {
            let built = try Fathom.run(
                ["build", "--system-headers"] + options + ["--", compiler, "-O2", "-g", source, "-o", program],
                environment: ["XDG_CACHE_HOME": directory.file("cache")])
            try #require(built.status == 0, "\(built.stderr)")
            return try self.calls(program)
        }
        let before = try calls([])
        #expect(before["repeat"] == 20 && before.keys.contains { $0.hasPrefix("std::") })
        let list = directory.file("list")
        #expect(try tune(["--keep", "100", "-o", list]).status == 0)
        let announced = try tune(["--keep", "100", "--format", "json"]).stdout
        let after = try calls(["--exclude-list", list])
        #expect(after["repeat"] == 20 && after["main"] == 1)
        // What tune announces is what comes: all functions of system headers are gone, and the rest is left.
        #expect(announced.contains("\"before\":{\"calls\":\(count(before)),"))
        #expect(announced.contains("\"after\":{\"calls\":\(count(after)),"), "\(announced)")
        #expect(!after.keys.contains { $0.hasPrefix("std::") }, "\(after.keys)")
    }

    private func count(_ calls: [String: Int]) -> Int { calls.values.reduce(0, +) }

    /// What cannot be followed is not proposed: no function of Swift, no time in which a task waited.
    @Test func swiftFunctionsStay() throws {
        let source = try directory.write(
            """
            @inline(never) func leaf(_ value: Int) -> Int { if value < 0 { print(value) }; return value + 1 }
            @inline(never) func run() async throws -> Int {
                var sum = 0
                for value in 0..<1000 { sum = leaf(sum + value) }
                try await Task.sleep(nanoseconds: 1_000_000)
                return leaf(sum)
            }
            print(try await run())
            """, to: "main.swift")
        let program = directory.file("steps")
        let built = try Fathom.run(
            ["build", "--", "swiftc", "-Onone", source, "-o", program],
            environment: ["XDG_CACHE_HOME": directory.file("cache")])
        try #require(built.status == 0, "\(built.stderr)")
        #expect(try calls(program).contains { $0.value == 1001 })
        let list = directory.file("list")
        let tuned = try tune(["--keep", "0", "--shorter-than", "60m", "-o", list])
        #expect(tuned.status == 0, "\(tuned.stderr)")
        let text = String(decoding: try readFile(list), as: UTF8.self)
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("# ") }, "\(text)")
        #expect(!tuned.stderr.contains("next:"))
        let lines = tuned.stderr.split(separator: "\n").filter { $0.contains("Swift functions that are short") }
        #expect(lines.count == 1 && lines.first?.hasSuffix("which stay: --exclude-list is for C and C++") == true)
    }

    @Test func limits() throws {
        _ = try calls(try build("gcc"))
        let everything = try tune(["--keep", "100%", "--format", "json"])
        #expect(everything.stdout.contains(#""kept_total_percent":100.00"#))
        #expect(everything.stdout.contains(#""before":{"calls":24202,"#))
        #expect(everything.stdout.contains(#""further":"#))
        // Nothing may go, and what would go with a lower limit is told. step_twice stands by itself if its calls cost less.
        let nothing = try tune(["--keep", "100", "--shorter-than", "60m"])
        let hint = try #require(nothing.stdout.split(separator: "\n").first { $0.hasPrefix("# calls that stay: ") })
        #expect(hint.contains("step (9") && hint.hasSuffix(" leaves them out, too"), "\(hint)")
        let none = try tune(["--shorter-than", "0"])
        #expect(none.status == 0)
        #expect(none.stdout.contains("# nothing to leave out: none saves enough for what it would lose\n"))
        #expect(none.stdout.split(separator: "\n").allSatisfy { $0.hasPrefix("# ") })
        #expect(try tune(["--keep", "101"]).status == 64)
        let nowhere = try tune(["-o", directory.file("no/list")])
        #expect(nowhere.status == 2)
        #expect(nowhere.stderr.contains("no/list: No such file or directory"))
        #expect(try tune(["--corrected"]).stderr.contains("has no baseline"))
    }
}
