import Glibc
import TestSupport
import Testing

/// Whenever the recorder is killed, names are there or are made up by the next reader; none is wrong.
@Suite struct KilledRecorderTests {
    private let directory: TemporaryDirectory

    // LD_PRELOAD takes no spaces.
    init() throws { directory = try TemporaryDirectory("killed-recorders") }

    /// How often it is killed; FATHOM_KILLS says so for longer tests.
    private static let kills = getenv("FATHOM_KILLS").flatMap { Int(String(cString: $0)) } ?? 12

    private func file(_ name: String) -> String { directory.file(name) }
    private func fathom(_ arguments: String...) throws -> ProcessOutput {
        try Fathom.run(arguments, workingDirectory: directory.path)
    }

    /// The names that a report has, and how many functions of the program's files are addresses.
    private func names(_ report: ProcessOutput) -> (words: Set<String>, addresses: Int) {
        let names = report.stdout.split(separator: "\n").dropFirst().compactMap { $0.split(separator: ",").first }
        let words = names.filter { $0.hasPrefix("old_") || $0.hasPrefix("new_") }.map(String.init)
        return (Set(words), names.count { $0.contains("p+0x") || $0.contains("l.so+0x") || $0.contains(")+0x") })
    }

    @Test(arguments: 0..<kills) func atAnyMoment(_ round: Int) throws {
        var random = SeededGenerator(seed: UInt64(round) + 33)
        let flags = Bool.random(using: &random) ? [] : ["-Wl,--build-id=none"]
        let isReplaced = round % 3 == 2
        let options = [[], ["--blocked"], ["--mode", "profile"], ["--memory"]].randomElement(using: &random)!
        // Some programs end about when the recorder is killed, in the midst of what it does at the end.
        let end = Bool.random(using: &random) ? "end" : "\(Int.random(in: 1...60, using: &random))"
        let again = Bool.random(using: &random) ? " again" : ""
        let time = UInt32.random(in: 5_000...400_000, using: &random)  // us
        if isReplaced {
            try LastingProgram.build(.new, .always, flags, in: directory)
            _ = try run("sh", ["-c", "mkdir new; mv p l.so new"], workingDirectory: directory.path)
        }
        try LastingProgram.build(.old, .always, flags, in: directory)
        let recording = try BackgroundProcess([
            "sh", "-c",
            "cd '\(directory.path)' && exec '\(Fathom.executable)' record -q \(options.joined(separator: " ")) -o s -- ./p ./l.so \(end)\(again) >said",
        ])
        if isReplaced {
            // Until it has said its name, the new one could be started in the place of the old one.
            #expect(waitUntil { (try? readFile(file("said"))) == Array("old\n".utf8) })
            _ = try run("sh", ["-c", "mv new/l.so l.so; mv new/p p"], workingDirectory: directory.path)
        }
        usleep(time)
        recording.signal(SIGKILL)
        recording.wait()
        _ = try directory.write("", to: "end")
        // While the program goes on, nobody keeps names.
        #expect(
            waitUntil {
                (try? run("sh", ["-c", "! grep -qsF '\(file("s"))/' /proc/[0-9]*/maps"]))?.status == 0
            })
        // Killed at once, it may have made no session, or no calls.
        guard access(file("s/trace"), F_OK) == 0 else { return }
        let first = try fathom("report", "--no-cache", "--raw-names", "--format", "csv", "s"), found = names(first)
        let wrong = found.words.filter { $0.hasPrefix("new_") }
        // A new library that the program has loaded is named as that, and calls nothing but its leaf.
        #expect(wrong.isEmpty || isReplaced && wrong == ["new_leaf"], "\(first.stdout)")
        #expect(isReplaced || found.addresses == 0, "\(first)")
        _ = try run("rm", [file("p"), file("l.so")])
        let second = try fathom("report", "--no-cache", "--raw-names", "--format", "csv", "s")
        #expect(second.stdout == first.stdout)
    }

    /// Where a process is killed that writes the file of names.
    enum Moment: String, CaseIterable, Sendable { case open, write, rename }

    /// Stands before the C library's functions, and kills the process as KILL_AT says.
    private static let killer = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int file = -1;
        static int is_names(const char *path) { return strstr(path, "/names.") != NULL; }
        static int is_asked(const char *moment) { const char *at = getenv("KILL_AT"); return at && !strcmp(at, moment); }
        int open(const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            int mode = va_arg(list, int);
            va_end(list);
            int opened = ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
            if (!is_names(path)) return opened;
            file = opened;
            if (is_asked("open")) kill(getpid(), SIGKILL);
            return opened;
        }
        int open64(const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            int mode = va_arg(list, int);
            va_end(list);
            return open(path, flags, mode);
        }
        ssize_t write(int descriptor, const void *bytes, size_t size) {
            ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
            if (descriptor != file || file < 0 || !is_asked("write")) return next(descriptor, bytes, size);
            next(descriptor, bytes, size / 2);
            kill(getpid(), SIGKILL);
            return -1;
        }
        int rename(const char *old, const char *new) {
            if (is_names(old) && is_asked("rename")) kill(getpid(), SIGKILL);
            return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(old, new);
        }
        """

    /// What is left of it is no session's names, and disturbs neither readers nor the next recordings.
    @Test(arguments: Moment.allCases, [true, false]) func whileItWritesNames(_ moment: Moment, isRecorder: Bool) throws
    {
        try LastingProgram.build(.old, in: directory)
        let killer = try Toolchain.compile(
            sources: ["killer.c": Self.killer], compiler: .gcc, flags: ["-shared", "-fPIC", "-ldl"],
            output: file("killer.so"))
        let words =
            isRecorder ? ["record", "-q", "-o", "s", "--", "./p", "./l.so", "9"] : ["report", "--no-cache", "s"]
        if !isRecorder {
            #expect(try fathom("record", "-q", "-o", "s", "--", "./p", "./l.so", "9").status == 0)
            _ = try run("rm", [file("s/names")])
        }
        let killed = try Fathom.run(
            words, environment: ["LD_PRELOAD": killer, "KILL_AT": moment.rawValue], workingDirectory: directory.path)
        #expect(killed.status != 0)
        let left = try run("ls", [file("s")]).stdout
        #expect(left.contains("names.") && !left.contains("names\n"), "\(left)")
        let first = try fathom("report", "--no-cache", "s")
        #expect(first.stdout.contains("old_leaf") && first.stderr.isEmpty, "\(first)")
        #expect(try fathom("info", "--check", "s").stdout.contains("damage       none"))
        _ = try run("rm", [file("p"), file("l.so")])
        #expect(try fathom("report", "--no-cache", "s").stdout == first.stdout)
        // It is moved aside, and then removed.
        try LastingProgram.build(.old, in: directory)
        for _ in 0..<3 {
            let recorded = try fathom("record", "-q", "-o", "s", "--", "./p", "./l.so", "3")
            #expect(recorded.status == 0 && recorded.stderr.isEmpty, "\(recorded.stderr)")
        }
        #expect(try !run("ls", [file("s"), file("s.old")]).stdout.contains("names."))
    }
}
