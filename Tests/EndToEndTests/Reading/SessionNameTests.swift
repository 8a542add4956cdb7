import Glibc
import TestSupport
import Testing

/// A session shows the names and lines of what it recorded, whatever became of the programs.
@Suite struct SessionNameTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("session names") }

    /// A way to build programs with hooks.
    enum Language: String, CaseIterable, Sendable {
        case gcc, clang, gxx = "g++", swift
        /// Without a build-id, which linkers leave out unless they are asked for it.
        case unnamed

        /// The command before the output's name, as words.
        var command: [String] {
            switch self {
            case .gcc: ["gcc", "-g", "-O1", "-finstrument-functions", "p.c"]
            case .unnamed: ["gcc", "-g", "-O1", "-finstrument-functions", "-Wl,--build-id=none", "p.c"]
            case .clang: ["clang", "-g", "-O1", "-finstrument-functions", "p.c"]
            case .gxx: ["g++", "-g", "-O1", "-finstrument-functions", "p.cpp"]
            case .swift: [Fathom.executable, "build", "--", "swiftc", "-g", "-Onone", "p.swift"]
            }
        }

        var name: String { self == .gxx ? "p.cpp" : self == .swift ? "p.swift" : "p.c" }

        /// A program that counts primes: `limit` of them looked at.
        func source(_ limit: Int) -> String {
            switch self {
            case .swift:
                """
                struct Prime {
                    static func isPrime(_ n: Int) -> Bool {
                        var d = 2
                        while d * d <= n { if n % d == 0 { return false }; d += 1 }
                        return n > 1
                    }
                }
                func count(_ limit: Int) -> Int { (0..<limit).filter { Prime.isPrime($0) }.count }
                func later(_ limit: Int) async -> Int {
                    await Task.yield()
                    return count(limit)
                }
                print(await later(\(limit)))

                """
            case .gxx:
                """
                #include <cstdio>
                #include <functional>
                namespace math {
                template <class T> __attribute__((noinline)) bool isPrime(T n) {
                    for (T d = 2; d * d <= n; d++) if (n % d == 0) return false;
                    return n > 1;
                }
                }
                __attribute__((noinline)) int count(const std::function<bool(int)> &f, int n) {
                    int p = 0; for (int i = 0; i < n; i++) p += f(i); return p;
                }
                int main() { std::printf("%d\\n", count([](int n) { return math::isPrime<int>(n); }, \(limit))); }

                """
            default:
                """
                #include <stdio.h>
                __attribute__((noinline)) int isPrime(int n) {
                    for (int d = 2; d * d <= n; d++) if (n % d == 0) return 0;
                    return n > 1\(limit % 2 == 1 ? " && n != 4" : "");
                }
                __attribute__((noinline)) int count(int n) { int p = 0; for (int i = 0; i < n; i++) p += isPrime(i); return p; }
                int main(void) { printf("%d\\n", count(\(limit))); return 0; }

                """
            }
        }
    }

    private func fathom(_ arguments: String...) throws -> ProcessOutput {
        try Fathom.run(arguments, workingDirectory: directory.path)
    }

    private func build(_ language: Language, _ limit: Int) throws {
        _ = try directory.write(language.source(limit), to: language.name)
        let command = language.command
        // Another file, and not the old one with other bytes.
        _ = try run("rm", ["-f", directory.file("p")])
        let made = try run(
            command[0], Array(command[1...]) + ["-o", "p"], workingDirectory: directory.path, seconds: 900)
        try #require(made.status == 0, "\(made.stderr)")
    }

    private func record(_ session: String, _ options: [String] = []) throws {
        let made = try Fathom.run(
            ["record", "-q"] + options + ["-o", session, "--", "./p"], workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
    }

    /// Views that compare two builds, by name.
    @Test(arguments: Language.allCases) func rebuilt(_ language: Language) throws {
        try build(language, 3000)
        try record("a")
        try record("a2")
        try build(language, 3101)
        try record("b")
        let difference = try fathom("diff", "a", "b", "--format", "json", "--all")
        #expect(difference.stderr.isEmpty && difference.stdout.contains("isPrime") && !difference.stdout.contains("0x"))
        #expect(
            !difference.stdout.contains("\"new\"") && !difference.stdout.contains("\"gone\""), "\(difference.stdout)")
        let picture = try fathom("flame", "b", "--diff", "a", "-o", "d.html")
        #expect(picture.status == 0 && picture.stderr.isEmpty, "\(picture.stderr)")
        try record("b2")
        #expect(try fathom("history", "add", "--history", "h.db", "a", "b", "a2", "b2").status == 0)
        let changes = try fathom("history", "changes", "--history", "h.db")
        #expect(
            !changes.stdout.contains("0x") && ["isPrime", "std::function"].contains(where: changes.stdout.contains),
            "\(changes.stdout + changes.stderr)")
        let gate = try fathom("gate", "--counts", "--against", "a", "--", "./p")
        #expect(!(gate.stdout + gate.stderr).contains("0x") && gate.stdout.contains("isPrime"), "\(gate)")
        for view in [["tree", "a", "--lines", "--call-sites"], ["report", "a"]] {
            let shown = try Fathom.run(view, workingDirectory: directory.path)
            #expect(shown.stdout.contains("isPrime") && shown.stdout.contains(language.name), "\(shown.stdout)")
            #expect(shown.stderr.isEmpty && !shown.stdout.contains("p+0x"), "\(shown.stderr)")
        }
    }

    /// Where neither the program nor its libraries are, everything is shown as at home, byte by byte.
    @Test(arguments: Language.allCases, [[], ["--mode", "profile"], ["--blocked"]])
    func movedElsewhere(_ language: Language, _ options: [String]) throws {
        try build(language, 300)
        try record("s", options)
        let home = try SessionViews("s", in: directory.path)
        #expect(home.count >= 10 && home.text.split(separator: "isPrime").count > 3)
        _ = try run("sh", ["-c", "rm -f p p.c p.cpp p.swift *.o"], workingDirectory: directory.path)
        #expect(try SessionViews("s", in: directory.path).differences(from: home) == [])
    }

    /// The program is replaced while it runs, and a library that it has loaded, too.
    @Test(arguments: [Language.gcc, .unnamed]) func replacedWhileItRuns(_ language: Language) throws {
        let flags = Array(language.command.dropLast().dropFirst())
        func make(_ word: String) throws {
            _ = try directory.write(
                """
                #include <dlfcn.h>
                #include <stdio.h>
                #include <unistd.h>
                __attribute__((noinline)) int \(word)_own(int n) { return n + 1; }
                int main(void) {
                    void *library = dlopen("./l.so", RTLD_NOW);
                    int (*inside)(int) = (int (*)(int))dlsym(library, "inside");
                    int sum = inside(1);
                    fclose(fopen("loaded", "w"));
                    while (access("replaced", F_OK)) usleep(10000);
                    return (inside(sum) + \(word)_own(1)) == 0;
                }

                """, to: "m.c")
            _ = try directory.write(
                "static __attribute__((noinline)) int \(word)_leaf(int n) { return n + 1; }\n"
                    + "int inside(int n) { return \(word)_leaf(n) + 1; }\n", to: "l.c")
            for (source, output, more) in [("m.c", "new-m", []), ("l.c", "new-l.so", ["-shared", "-fPIC"])] {
                let made = try run(
                    "gcc", flags + more + [source, "-o", output, "-ldl"], workingDirectory: directory.path)
                try #require(made.status == 0, "\(made.stderr)")
            }
            _ = try run("mv", ["new-m", "m"], workingDirectory: directory.path)
            _ = try run("mv", ["new-l.so", "l.so"], workingDirectory: directory.path)
        }
        try make("old")
        let recording = try BackgroundProcess([
            "sh", "-c", "cd '\(directory.path)' && exec '\(Fathom.executable)' record -q -o s -- ./m",
        ])
        #expect(waitUntil(seconds: 60) { access(directory.file("loaded"), F_OK) == 0 })
        // The recorder has both open by then, and says so: nothing else is told to others.
        #expect(waitUntil(seconds: 60) { holds(recording.pid, "/l.so") && holds(recording.pid, "/m") })
        try make("new")
        _ = try directory.write("", to: "replaced")
        #expect(recording.wait() == 0)
        let tree = try fathom("tree", "s", "--lines")
        #expect(tree.status == 0 && tree.stderr.isEmpty, "\(tree.stderr)")
        for name in ["old_own", "old_leaf", "inside"] { #expect(tree.stdout.contains(name), "\(tree.stdout)") }
        #expect(!tree.stdout.contains("new_"))
    }

    /// A library without a build-id is replaced after it was mapped, and before anybody has seen it.
    @Test(arguments: [true, false]) func replacedWhileItIsLoaded(_ hasRecorder: Bool) throws {
        let script = """
            for word in old new; do
                printf 'static __attribute__((noinline)) int %s_leaf(int n) { return n + 1; }\\n' $word >l.c
                cat >>l.c <<'END'
            #include <stdio.h>
            #include <unistd.h>
            int inside(int n) { return LEAF(n) + 1; }
            __attribute__((constructor, no_instrument_function)) static void replace(void) {
                rename("new.so", "l.so");
                usleep(100000);
            }
            END
                gcc -g -O1 -finstrument-functions -Wl,--build-id=none -shared -fPIC -DLEAF=${word}_leaf l.c -o $word.so
            done
            mv old.so l.so
            cat >m.c <<'END'
            #include <dlfcn.h>
            int main(void) { return ((int (*)(int))dlsym(dlopen("./l.so", RTLD_NOW), "inside"))(1) != 3; }
            END
            gcc -g -O1 -finstrument-functions m.c -o m -ldl
            """
        try #require(try run("sh", ["-ec", script], workingDirectory: directory.path).status == 0)
        #expect(try fathom("record", "-q", "-o", "s", "--", "./m").status == 0)
        if !hasRecorder { _ = try run("rm", [directory.file("s/names")]) }
        let report = try fathom("report", "--no-cache", "s").stdout
        #expect(report.contains("main") && !report.contains("new_leaf"), "\(report)")
        #expect(report.contains("l.so+0x") || hasRecorder && report.contains("old_leaf"), "\(report)")
    }

    /// Whether a process has a file of that name open.
    private func holds(_ pid: Int32, _ name: String) -> Bool {
        (try? run("ls", ["-l", "/proc/\(pid)/fd"]).stdout.contains("\(directory.path)\(name)\n")) ?? false
    }

    /// A damaged file of names is told, and does not matter where the program is still there.
    @Test func damagedNames() throws {
        try build(.gcc, 300)
        try record("s")
        let whole = try fathom("report", "s")
        var bytes = try readFile(directory.file("s/names"))
        bytes[bytes.count / 2] ^= 0x40
        try writeFile(bytes, to: directory.file("s/names"))
        let damaged = try fathom("report", "s")
        #expect(damaged.stdout == whole.stdout)
        #expect(damaged.stderr.contains("names at offset"), "\(damaged.stderr)")
    }

    /// A program without a build-id that was changed later may be another one, of which nothing is told.
    @Test func noNamesOfAnother() throws {
        try build(.unnamed, 300)
        try record("s")
        _ = try run("rm", [directory.file("s/names")])
        try build(.unnamed, 301)
        _ = try fathom("report", "s")
        _ = try run("rm", [directory.file("p")])
        let shown = try fathom("report", "s")
        #expect(shown.stdout.contains("p+0x") && !shown.stdout.contains("isPrime"), "\(shown.stdout)")
    }

    /// That debug information is in files that are not there, or in a package that cannot be read, is said by the file and by the
    /// session in its place. Where the package can be read, there are lines.
    @Test(arguments: ["none", "llvm-dwp", "dwp"]) func splitFiles(_ packer: String) throws {
        guard packer == "none" || Toolchain.isInstalled(packer) else { return }
        _ = try directory.write(Language.gcc.source(30), to: "p.c")
        // Binutils' dwp does not know DWARF 5, and llvm-dwp not what gcc makes of it.
        let compiler = packer == "dwp" ? "gcc" : "clang"
        let flags = ["-g", packer == "dwp" ? "-gdwarf-4" : "-gdwarf-5", "-gsplit-dwarf", "-finstrument-functions"]
        let pack = packer == "none" ? ":" : "\(packer) -e p -o p.dwp"
        let made = try run(
            "sh",
            [
                "-c",
                "\(compiler) \(flags.joined(separator: " ")) -c p.c && \(compiler) p.o -o p && \(pack) && rm *.dwo",
            ],
            workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
        try record("s")
        let shown = try fathom("report", "s", "--no-cache")
        #expect(shown.stdout.contains("isPrime"))
        if packer != "none", shown.stdout.contains("p.c:") {
            #expect(shown.stderr.isEmpty, "\(shown.stderr)")
        } else {
            let expected =
                packer == "none"
                ? "its debug information was in split files (.dwo) that could not be read"
                : "/p.dwp, which libdw of elfutils 0.190"
            #expect(
                shown.stderr.split(separator: "\n").count == 1 && shown.stderr.contains(expected), "\(shown.stderr)")
        }
        _ = try run("rm", ["-f", directory.file("p"), directory.file("p.dwp")])
        let gone = try fathom("report", "s", "--no-cache")
        #expect(gone.stdout == shown.stdout && gone.stderr == shown.stderr)
    }
}
