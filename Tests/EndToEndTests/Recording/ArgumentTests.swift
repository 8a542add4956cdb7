import TestSupport
import Testing

/// Arguments of calls are what the program itself says that it was called with.
@Suite struct ArgumentTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("arguments") }

    /// Generated programs of 200 functions with arguments of every type; see `Tools/arguments`.
    @Test(
        arguments: ["c", "cpp"],
        ["gcc-O0", "gcc-O2", "gcc-O3", "clang-O0", "clang-O2", "clang-O3"])
    func everyType(_ language: String, _ build: String) throws {
        try Self.expectRight(["1", "2"], language, build)
    }

    @Test(arguments: ["swiftc-Onone", "swiftc-O"]) func everySwiftType(_ build: String) throws {
        try Self.expectRight(["1"], "swift", build)
    }

    /// Expects that `Tools/arguments` finds no wrong value in the programs that it generates.
    static func expectRight(_ options: [String], _ language: String, _ build: String) throws {
        let tool = try run(
            "\(Binaries.repository)/Tools/arguments",
            options + ["--languages", language, "--builds", build, "--fathom", Fathom.executable])
        #expect(tool.status == 0, "\(tool.stdout)\(tool.stderr)")
        #expect(tool.stdout.contains(" 0 wrong"), "\(tool.stdout)")
    }

    private func record(_ source: String, _ options: [String], _ build: Build) throws -> ProcessOutput {
        let program = try Toolchain.compile(
            sources: ["program.c": source], compiler: build.compiler == .gcc ? .gcc : .clang,
            flags: ["-g", "-O\(build.level)", "-finstrument-functions"], libraries: ["-lpthread"],
            output: directory.file("program"))
        return try Fathom.record([program], into: directory.file("s.fathom"), options: options)
    }

    private func tree(_ options: [String] = []) throws -> String {
        try Fathom.run(["tree", directory.file("s.fathom")] + options).stdout
    }

    private static let pointers = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        __attribute__((noinline)) size_t take(const char *text, int number) {
            printf("%d %p\\n", number, (const void *)text);
            return number;
        }
        int main(void) {
            char *gone = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            munmap(gone, 4096);
            munmap(pages + 4096, 4096);
            memset(pages, 'p', 4096);
            char *large = malloc(1 << 20), *freed = malloc(100000);
            memset(large, 'l', 1 << 20);
            large[(1 << 20) - 1] = 0;
            free(freed);
            take(0, 0);
            take((char *)1, 1);
            take((char *)-1, 2);
            take((char *)0x8000000000000000ul, 3);
            take(gone, 4);
            take(pages + 4090, 5);
            take(large, 6);
            take(freed, 7);
            take("tab\\tquote\\"\\xff", 8);
        }

        """

    /// No address that a program makes up does it any harm.
    @Test(arguments: Build.all) func addressesThatLeadNowhere(_ build: Build) throws {
        let output = try record(Self.pointers, ["-q", "--args", "take"], build)
        #expect(output.status == 0, "\(output.stderr)")
        #expect(output.stdout.split(separator: "\n").count == 9)
        let lines = try tree(["--no-fold"])
        #expect(lines.contains("take(text=null, number=0)"), "\(lines)")
        for number in 1...4 { #expect(lines.contains("take(text=<unreadable>, number=\(number))"), "\(lines)") }
        #expect(lines.contains("take(text=\"pppppp…\", number=5)"), "\(lines)")
        #expect(lines.contains("take(text=\"\(String(repeating: "l", count: 64))…\", number=6)"), "\(lines)")
        #expect(lines.contains("take(text=\"tab\\tquote\\\"\\xff\", number=8)"), "\(lines)")
    }

    @Test func lengthOfTexts() throws {
        _ = try record(Self.pointers, ["-q", "--args", "take:text", "--args-length", "1024"], .gccO2)
        #expect(try tree().contains("take(text=\"\(String(repeating: "l", count: 1024))…\")"))
    }

    @Test func formats() throws {
        _ = try record(Self.pointers, ["-q", "--args", "take:number"], .gccO2)
        let session = directory.file("s.fathom")
        #expect(try tree(["--format", "json"]).contains("\"args\":{\"number\":\"5\"}"))
        #expect(try Fathom.run(["dump", session]).stdout.contains("number=5"))
        #expect(try Fathom.run(["dump", session, "--format", "jsonl"]).stdout.contains("\"args\":{\"number\":\"5\"}"))
        for (format, text) in [("chrome", "\"args\":{\"number\":\"5\"}"), ("perfetto", "number")] {
            let file = directory.file("file.\(format)")
            #expect(try Fathom.run(["export", session, "--format", format, "-o", file]).status == 0)
            #expect(String(decoding: try readFile(file), as: UTF8.self).contains(text))
        }
    }

    /// Strings of up to 15 bytes are in the two words themselves.
    @Test(arguments: ["-Onone", "-O"]) func swift(_ level: String) throws {
        let source = """
            @inline(never) func work(_ number: Int, _ text: String) -> Int { print(text); return number }
            print(work(-7, CommandLine.arguments.count > 9 ? "?" : "short") + work(8, String(repeating: "long", count: 9)))

            """
        try writeFile(Array(source.utf8), to: directory.file("program.swift"))
        let built = try Fathom.run(
            ["build", "--", "swiftc", "-g", level, "program.swift", "-o", "program"], workingDirectory: directory.path)
        try #require(built.status == 0, "\(built.stderr)")
        let session = directory.file("s.fathom")
        _ = try Fathom.record([directory.file("program")], into: session, options: ["-q", "--args", "work*"])
        let lines = try tree()
        #expect(lines.contains("(number=-7, text=\"short\")"), "\(lines)")
        #expect(lines.contains("(number=8, text=\"\(String(repeating: "long", count: 9))\")"), "\(lines)")
    }

    @Test func rowsByValue() throws {
        let source = """
            __attribute__((noinline)) int take(const char *path, int n) { return n + path[0]; }
            int main(void) {
                for (int i = 0; i < 30; i++) take(i % 3 ? "/fast" : "/slow, too", i);
            }

            """
        _ = try record(source, ["-q", "--args", "take"], .gccO2)
        let session = directory.file("s.fathom")
        let rows = try Fathom.run(["report", session, "--by-arg", "take:path", "--sort", "calls", "--format", "csv"])
            .stdout
            .split(separator: "\n").dropFirst().map { $0.prefix { $0 != "0" } }
        #expect(rows.first?.hasPrefix("\"\"\"/fast\"\"\",2") == true, "\(rows)")
        #expect(rows.last?.hasPrefix("\"\"\"/slow, too\"\"\",1") == true, "\(rows)")
        let json = try Fathom.run(["report", session, "--by-arg", "take:path", "--format", "json"]).stdout
        #expect(json.contains("\"value\":\"\\\"/fast\\\"\",\"calls\":20,"), "\(json)")
        for (argument, words) in [
            ("take:pat", "no call of 'take' has an argument 'pat'"), ("tak:path", "did you mean take"),
        ] {
            let output = try Fathom.run(["report", session, "--by-arg", argument])
            #expect(output.status == 1)
            #expect(output.stderr.contains(words), "\(output.stderr)")
        }
        #expect(try Fathom.run(["report", session, "--by-arg", "take"]).status == 64)
    }

    @Test func wrongUse() throws {
        for (options, words) in [
            (["--args", "f:1x"], "is no argument"), (["--args", "f", "--args-length", "0"], "--args-length"),
            (["--args-length", "9"], "--args"),
        ] {
            let output = try Fathom.run(["record"] + options + ["--", "true"])
            #expect(output.status == 64)
            #expect(output.stderr.contains(words), "\(output.stderr)")
        }
        let output = try record(Self.pointers, ["--args", "take:numbr"], .gccO2)
        #expect(
            output.stderr.contains("no function that is asked for has an argument numbr; did you mean number?"),
            "\(output.stderr)")
    }

    /// A recording that has neither arguments nor when threads wait needs no newer reader.
    @Test func version() throws {
        for (options, version) in [(["-q", "--args", "take"], UInt8(3)), (["-q", "--no-blocked", "-F", "take"], 2)] {
            _ = try? removeRecording()
            _ = try record(Self.pointers, options, .gccO2)
            #expect(try readFile(directory.file("s.fathom/trace"))[8] == version)
        }
    }

    private func removeRecording() throws { _ = try run("rm", ["-r", directory.file("s.fathom")]) }
}
