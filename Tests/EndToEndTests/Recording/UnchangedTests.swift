import TestSupport
import Testing

/// What the functions that Fathom stands before do for a program is what they do without Fathom.
@Suite struct UnchangedTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("unchanged") }

    /// The programs print what they got; each line that differs is a difference.
    private func compare(_ binary: String, _ options: [String]) throws {
        let plain = try run(binary, [], workingDirectory: directory.path).stdout.split(separator: "\n")
        #expect(plain.count > 50 && !plain.contains { $0.hasPrefix("  status") }, "\(plain.joined(separator: "\n"))")
        let recorded = try Fathom.run(
            ["record", "-q", "-o", directory.file("session.fathom")] + options + ["--", binary],
            workingDirectory: directory.path)
        let lines = recorded.stdout.split(separator: "\n")
        #expect(recorded.status == 0, "\(recorded.stderr)")
        #expect(lines == plain, "\(lines.difference(from: plain))")
    }

    /// Locks of all kinds, semaphores, cancellation, signals that interrupt, and arguments that the C library or the kernel
    /// refuses, among them addresses that nothing is at; programs that are started, and files that are looked at before.
    @Test(arguments: [["--blocked"], ["--blocked", "--memory"], [], ["--mode", "profile"]], [Build.gccO2, .clangO0])
    func results(_ options: [String], _ build: Build) throws {
        try compare(try Binaries.instrumented("results.c", build), options)
    }

    /// While first calls are recorded, SIGTRAP is never blocked, and the program does not see that.
    @Test(arguments: ["gcc", "clang"]) func masks(_ compiler: String) throws {
        let binary = try Binaries.make(
            "masks-\(compiler)", command: compiler, ["-g", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"],
            ["\(Binaries.sources)/masks.c"])
        try compare(binary, ["--first-calls"])
    }

    /// A library has functions of its own by names of the C library's, and other parameters.
    @Test func functionsOfTheirOwn() throws {
        let library = try directory.write(
            """
            static const char *next = "a line of text\\nanother\\n";
            long getline(char *line, int room, int end) {
                int size = 0;
                while (size + 1 < room && *next && *next != end) line[size++] = *next++;
                line[size] = 0;
                return size;
            }
            long pause(const long *from, int which, long more) { return from[which] + more; }
            long first_line(char *line, int room) { return getline(line, room, '\\n'); }
            long second_of(const long *from) { return pause(from, 1, 1L << 40); }
            """, to: "own.c")
        let program = try directory.write(
            """
            #include <stdio.h>
            long first_line(char *, int), second_of(const long *);
            int main(void) {
                char line[64];
                long size = first_line(line, sizeof line), numbers[] = {1, 2};
                printf("%ld %s %ld\\n", size, line, second_of(numbers));
                return 0;
            }
            """, to: "program.c")
        let (own, binary) = (directory.file("libown.so"), directory.file("program"))
        try #require(try run("gcc", ["-w", "-fPIC", "-shared", "-fno-builtin", library, "-o", own]).status == 0)
        try #require(try run("gcc", ["-g", "-finstrument-functions", program, own, "-o", binary]).status == 0)
        let recorded = try Fathom.record([binary], into: directory.file("own.fathom"), options: ["-q", "--blocked"])
        #expect(recorded.status == 0 && recorded.stdout == "14 a line of text 1099511627778\n", "\(recorded)")
    }

    /// Threads that ask at once what is mapped, as those do that come to new stacks, get answers to what they have asked.
    @Test func threadsAskForMappings() throws {
        let sources = "\(Binaries.repository)/Sources"
        let program = try Binaries.make(
            "mappings", command: "gcc",
            [
                "-g", "-O1", "-std=gnu17", "-pthread", "-I\(sources)/CTraceFormat/include",
                "-I\(sources)/CTraceRuntime/include", "-I\(sources)/CTraceRuntime",
            ],
            ["\(Binaries.sources)/mappings.c"]
                + ["maps", "apart", "locks", "system"].map { "\(sources)/CTraceRuntime/host/\($0).c" })
        #expect(try run(program, []).stdout == "0 of 1600 answers are wrong\n")
    }

    /// A thread waits for a recorder that gets no processor, but not for one that was killed.
    @Test func aRecorderThatIsGoneIsNotWaitedFor() throws {
        let sources = "\(Binaries.repository)/Sources"
        let program = try Binaries.make(
            "recorder_gone", command: "gcc",
            [
                "-g", "-O1", "-std=gnu17", "-I\(sources)/CTraceFormat/include", "-I\(sources)/CTraceRuntime/include",
                "-I\(sources)/CTraceRuntime",
            ], ["\(Binaries.sources)/recorder_gone.c", "\(sources)/CTraceRuntime/session/await.c"])
        let expected = """
            starving: 100
            killed: 0
            once more: 0
            gone: 0
            another recorder: 100
            it has left: 0

            """
        #expect(try run(program, []).stdout == expected)
    }
}
