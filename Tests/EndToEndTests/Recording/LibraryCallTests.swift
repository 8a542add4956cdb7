#if arch(x86_64)
    internal import Glibc
    import TestSupport
    import Testing

    /// `record --libcalls`: calls of library functions, of programs with hooks and without.
    @Suite struct LibraryCallTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        init() throws { directory = try TemporaryDirectory("library-calls") }

        static let library = """
            int lib_twice(int n) { return 2 * n; }
            int lib_walk(int n, int (*step)(int)) { return n == 0 ? 0 : step(n - 1) + 1; }
            int lib_tail(int n);
            int lib_pass(int n) { return lib_tail(n); }
            """
        static let otherLibrary = "int lib_tail(int n) { return n + 7; }\n"
        static let program = """
            #include <setjmp.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            int lib_twice(int), lib_walk(int, int (*)(int)), lib_pass(int);
            static int again(int n) { return lib_walk(n, again); }
            static jmp_buf out;
            static int fewer(const void *a, const void *b) {
                if (*(const int *)a == 13) longjmp(out, 1);
                return *(const int *)a - *(const int *)b;
            }
            int main(void) {
                int sum = lib_walk(9, again);
                for (int i = 0; i < 1000; i++) sum += lib_twice(i);
                for (int i = 0; i < 10; i++) sum += lib_pass(i);
                for (int i = 0; i < 100; i++) {
                    int numbers[] = {3, i % 2 ? 13 : 1, 2};
                    if (!setjmp(out)) qsort(numbers, 3, sizeof *numbers, fewer);
                }
                char *text = strdup("text");
                printf("%d %s\\n", sum, text);
                free(text);
                return 5;
            }
            """

        private enum Binding: String, CaseIterable {
            case lazy, now, withoutPLT
            var flags: [String] {
                switch self {
                case .lazy: ["-Wl,-z,lazy"]
                case .now: ["-Wl,-z,now,-z,relro"]
                case .withoutPLT: ["-fno-plt", "-Wl,-z,now"]
                }
            }
        }

        /// A library, and one that it calls, and a program that calls the first one.
        private func build(
            _ compiler: Toolchain.Compiler, _ flags: [String], hooks: [String] = [], libraryHooks: [String] = []
        ) throws -> String {
            let shared = ["-O1", "-shared", "-fPIC"] + flags
            let here = directory.path
            let other = try Toolchain.compile(
                sources: ["other.c": Self.otherLibrary], compiler: compiler, flags: shared + libraryHooks,
                output: directory.file("libother.so"))
            let library = try Toolchain.compile(
                sources: ["library.c": Self.library], compiler: compiler, flags: shared + libraryHooks,
                libraries: [other, "-Wl,-rpath,\(here)"], output: directory.file("library.so"))
            return try Toolchain.compile(
                sources: ["program.c": Self.program], compiler: compiler,
                flags: ["-O1", "-fno-builtin", "-D_FORTIFY_SOURCE=0", "-U_FORTIFY_SOURCE"] + flags + hooks,
                libraries: [library, "-Wl,-rpath,\(here)"], output: directory.file("program"))
        }

        private func counts(_ options: [String] = []) throws -> [String: Int] {
            try Fathom.calls(in: session, options)
        }

        private func record(_ program: [String], _ options: [String] = []) throws -> ProcessOutput {
            try Fathom.record(program, into: session, options: ["--quiet", "--libcalls"] + options)
        }

        static let expected = [
            "lib_walk": 10, "lib_twice": 1000, "lib_pass": 10, "lib_tail": 10, "qsort": 100, "longjmp": 50, "strdup": 1,
            "printf": 1, "free": 1,
        ]

        /// Each call of a program without hooks, however its slots are bound: recursion while a slot is bound for the first time, calls
        /// that a jump ends, and calls in the place of others.
        @Test(arguments: [Toolchain.Compiler.gcc, .clang], Binding.allCases)
        private func everyCall(_ compiler: Toolchain.Compiler, _ binding: Binding) throws {
            let program = try build(compiler, binding.flags)
            let plain = try TestSupport.run(program, [])
            let output = try record([program])
            #expect(output.status == 5 && output.stdout == plain.stdout && output.stderr.isEmpty, "\(output.stderr)")
            var found = try counts()
            // `longjmp` may be called by another name of it.
            for name in ["_longjmp", "__longjmp_chk"] {
                found["longjmp", default: 0] += found.removeValue(forKey: name) ?? 0
            }
            if binding == .lazy, let walks = found["lib_walk"], walks < 10 { found["lib_walk"] = 10 }
            // clang keeps the functions that it calls in a loop in registers, so their slots are left alone.
            let left = compiler == .clang && binding == .withoutPLT ? ["lib_pass", "lib_twice"] : []
            #expect(found == Self.expected.filter { !left.contains($0.key) }, "\(found)")
            let check = try Fathom.run(["info", "--check", session])
            #expect(check.status == 0, "\(check.stdout)")
        }

        /// The same calls in the modes that keep sums, and the tree of a call in place of another.
        @Test(arguments: ["profile", "counts"]) func modes(_ mode: String) throws {
            let program = try build(.gcc, Binding.now.flags)
            #expect(try record([program], ["--mode", mode]).status == 5)
            let found = try counts()
            for name in ["lib_twice", "lib_tail", "qsort", "strdup"] {
                #expect(found[name] == Self.expected[name], "\(name)")
            }
        }

        /// Calls of a library with hooks are told of by these alone, and those that it makes stand below its functions.
        @Test(arguments: [Build.gccO2, .clangO2]) func besideHooks(_ build: Build) throws {
            let compiler: Toolchain.Compiler = build.compiler == .gcc ? .gcc : .clang
            let program = try self.build(
                compiler, Binding.now.flags, hooks: ["-finstrument-functions"], libraryHooks: ["-finstrument-functions"]
            )
            #expect(try record([program]).status == 5)
            let found = try counts()
            #expect(found["lib_twice"] == 1000 && found["main"] == 1 && found["qsort"] == 100)
            // What the library calls stands below its functions, and what the program calls below main.
            let paths = try Fathom.run(["export", session, "--format", "folded", "-o", "-"]).stdout
            #expect(paths.contains("main;lib_pass;lib_tail ") && paths.contains("main;strdup "), "\(paths)")
        }

        /// A library that is loaded later and throws, in a program that had no unwinder before, however its slots are bound.
        @Test(arguments: ["RTLD_NOW", "RTLD_LAZY"]) func throwsInLoadedLibraries(_ binding: String) throws {
            let library = try Toolchain.compile(
                sources: [
                    "plug.cpp": """
                    #include <cstdio>
                    #include <stdexcept>
                    static void fail(int n) { if (n == 0) throw std::runtime_error("thrown"); fail(n - 1); putchar('.'); }
                    extern "C" int run(int n) {
                        try { fail(n); } catch (const std::exception &error) { puts(error.what()); }
                        return n;
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-shared", "-fPIC"], libraries: ["-lstdc++"],
                output: directory.file("plug.so"))
            let program = try Toolchain.compile(
                sources: [
                    "host.c": """
                    #include <dlfcn.h>
                    #include <stdio.h>
                    int main(int count, char **arguments) {
                        void *library = dlopen(arguments[count - 1], \(binding));
                        if (!library) return puts(dlerror()), 1;
                        int (*run)(int) = (int (*)(int))dlsym(library, "run");
                        return run(3) + run(4);
                    }
                    """
                ], compiler: .gcc, flags: ["-O1"], output: directory.file("host"))
            for options in [["--libcalls"], ["--libcalls=nosuch"], ["--libcalls", "--any", "--module", "*"]] {
                let output = try Fathom.record([program, library], into: session, options: ["--quiet"] + options)
                #expect(output.status == 7 && output.stdout == "thrown\nthrown\n", "\(options): \(output)")
            }
        }

        /// Options that name functions mean library functions, too, and a pattern chooses which are recorded at all.
        @Test func filters() throws {
            let program = try build(.gcc, Binding.lazy.flags)
            for (options, names) in [
                (["-F", "qsort"], ["qsort", "longjmp"]),
                (["-N", "qsort", "-N", "lib_*"], ["strdup", "printf", "free"]),
                (["-C", "printf"], ["printf"]),
                (["-H", "lib_*", "-H", "qsort", "-H", "*longjmp"], ["strdup", "printf", "free"]),
            ] {
                #expect(try record([program], options).status == 5)
                let found = Set(try counts().keys.map { $0.contains("longjmp") ? "longjmp" : $0 })
                #expect(found == Set(names), "\(options)")
            }
            #expect(try Fathom.record([program], into: session, options: ["-q", "--libcalls=str*"]).status == 5)
            #expect(try counts() == ["strdup": 1])
        }

        /// What the C library's well-known functions take and return.
        @Test func values() throws {
            let program = try Toolchain.compile(
                sources: [
                    "values.c": """
                    #include <fcntl.h>
                    #include <math.h>
                    #include <stdio.h>
                    #include <stdlib.h>
                    #include <unistd.h>
                    int main(int count, char **arguments) {
                        int file = open("/nowhere", O_RDWR);
                        close(dup(1));
                        void *block = malloc(count + 41);
                        free(block);
                        return printf("%.2f %s\\n", pow(count + 1, 3), getenv("NAME")) + file;
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-fno-builtin"], libraries: ["-lm"], output: directory.file("values"))
            let wanted = ["open:path", "malloc", "pow", "getenv", "free"].flatMap { ["--args", $0] }
            let output = try Fathom.record(
                [program], into: session,
                options: ["--quiet", "--libcalls"] + wanted
                    + ["open", "malloc", "pow", "getenv", "dup", "free"].flatMap { ["--returns", $0] },
                environment: ["NAME": "a name"])
            #expect(output.stdout == "8.00 a name\n" && output.status == 11, "\(output.stderr)")
            let tree = try Fathom.run(["tree", session]).stdout
            for call in [
                "open(path=\"/nowhere\") = -1 ENOENT", "dup = ", "malloc(size=42) = 0x", "pow(x=2.0, y=3.0) = 8.0",
                "getenv(name=\"NAME\") = \"a name\"", "free(block=0x",
            ] { #expect(tree.contains(call), "\(call) in \(tree)") }
        }

        static let throwing = """
            #include <cstdio>
            #include <cstdlib>
            #include <execinfo.h>
            #include <stdexcept>
            #include <string>
            #include <thread>
            #include <vector>
            static thread_local int destroyed;
            struct Object { ~Object() { destroyed++; } };
            static int depth;
            static int compare(const void *a, const void *) {
                Object object;
                if (*static_cast<const int *>(a) == 5) throw std::runtime_error("five");
                return 0;
            }
            static void work() {
                int caught = 0;
                for (int i = 0; i < 2000; i++) {
                    int numbers[] = {i % 2 ? 5 : 1, 2};
                    try {
                        Object object;
                        qsort(numbers, 2, sizeof *numbers, compare);
                    } catch (const std::exception &error) { caught++; }
                }
                printf("%d %d\\n", caught, destroyed);
            }
            int main() {
                std::vector<std::thread> threads;
                for (int i = 0; i < 4; i++) threads.emplace_back(work);
                for (auto &thread : threads) thread.join();
                work();
                try { std::string().at(1); } catch (const std::out_of_range &) { puts("out of range"); }
                void *frames[64];
                return backtrace(frames, 64) > 2 ? 0 : 1;
            }
            """

        /// Exceptions pass through library calls, in several threads at once.
        @Test(arguments: [Toolchain.Compiler.gxx, .clangxx]) func exceptions(_ compiler: Toolchain.Compiler) throws {
            let program = try Toolchain.compile(
                sources: ["throwing.cpp": Self.throwing], compiler: compiler, flags: ["-O1", "-std=c++17"],
                libraries: ["-lpthread"], output: directory.file("throwing"))
            let plain = try TestSupport.run(program, []), output = try record([program])
            #expect(plain.status == 0 && plain.stdout.contains("1000 4000"))
            #expect(output.status == 0 && output.stdout == plain.stdout && output.stderr.isEmpty, "\(output.stderr)")
            #expect(try counts()["qsort"] == 10000)
        }

        /// A library that is loaded, called and unloaded again and again, and a child that is forked in between.
        @Test func loadedLibraries() throws {
            let plugin = try Toolchain.compile(
                sources: ["plugin.c": "#include <stdlib.h>\nint plugged(const char *s) { return atoi(s) + 1; }\n"],
                compiler: .gcc, flags: ["-O1", "-shared", "-fPIC", "-fno-builtin"], output: directory.file("plugin.so"))
            let program = try Toolchain.compile(
                sources: [
                    "loading.c": """
                    #include <dlfcn.h>
                    #include <stdio.h>
                    #include <string.h>
                    #include <sys/wait.h>
                    #include <unistd.h>
                    int main(int count, char **arguments) {
                        int sum = 0;
                        for (int i = 0; i < 20; i++) {
                            void *plugin = dlopen(arguments[1], RTLD_LAZY);
                            int (*plugged)(const char *) = (int (*)(const char *))dlsym(plugin, "plugged");
                            sum += plugged("1") + strlen(arguments[2]);
                            sum += plugged("2");
                            dlclose(plugin);
                        }
                        if (fork() == 0) _exit(strlen(arguments[2]));
                        int status;
                        wait(&status);
                        printf("%d %d\\n", sum, WEXITSTATUS(status));
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-fno-builtin"], libraries: ["-ldl"],
                output: directory.file("loading"))
            let output = try record([program, plugin, "four"])
            #expect(output.status == 0 && output.stdout == "180 4\n", "\(output.stdout)\(output.stderr)")
            let found = try counts()
            #expect(found["strlen"] == 21 && found["dlclose"] == 20 && found["fork"] == 1)
            // A slot is taken once the runtime has looked at the library, which the program's own calls make it do.
            #expect((found["atoi"] ?? 0) + (found["strtol"] ?? 0) >= 20)
        }

        /// Somebody attaches to a program without hooks, while such calls are open, leaves, and attaches again.
        @Test func attaching() throws {
            let program = try Toolchain.compile(
                sources: [
                    "running.c": """
                    #include <stdlib.h>
                    #include <string.h>
                    #include <unistd.h>
                    static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
                    int main(void) {
                        for (int i = 0; i < 100000; i++) {
                            int numbers[] = {3, 1, 2};
                            qsort(numbers, 3, sizeof *numbers, compare);
                            free(strdup("text"));
                            usleep(2000);
                        }
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-fno-builtin"], output: directory.file("running"))
            let process = try BackgroundProcess([program])
            for round in 0..<3 {
                let output = try Fathom.run([
                    "record", "--libcalls", "--attach", "\(process.pid)", "--for", "300ms", "-o", session,
                ])
                #expect(
                    output.status == 0 && !output.stderr.contains("stays in the midst"), "\(round): \(output.stderr)")
                let found = try counts()
                #expect((found["usleep"] ?? 0) > 5 && (found["qsort"] ?? 0) > 5, "\(round): \(found)")
            }
            #expect(kill(process.pid, 0) == 0)
        }

        /// Programs as they are shipped do as they do without it.
        @Test(arguments: [
            ["git", "--version"], ["perl", "-e", "print join ',', sort map { $_ % 7 } 1..500"],
            ["gzip", "-c", "/etc/services"], ["sort", "-r", "/etc/services"],
            ["awk", "{ n += length } END { print n }", "/etc/services"],
            ["python3", "-c", "import json, re; print(len(re.findall('a', json.dumps(list(range(5000))))))"],
            ["gcc", "-E", "-dM", "-xc", "/dev/null"],
        ]) func shippedPrograms(_ command: [String]) throws {
            let plain = try TestSupport.run(command[0], Array(command[1...]))
            let output = try record(command)
            #expect(output.status == plain.status && output.stdout == plain.stdout, "\(output.stderr)")
            #expect(try counts().values.reduce(0, +) > 20)
        }

        /// What cannot be recorded so says why.
        @Test func refusals() throws {
            let program = try Toolchain.compile(
                sources: ["program.c": "int main(void) { return 0; }"], compiler: .gcc, flags: ["-static"],
                output: directory.file("static"))
            let isStatic = try record([program])
            #expect(isStatic.status != 0 && isStatic.stderr.contains("statically linked"), "\(isStatic.stderr)")
            let noNames = try Fathom.run(["record", "--libcalls=a/b", "--", "true"])
            #expect(noNames.status == 64 && noNames.stderr.contains("--libcalls=GLOB takes names"), "\(noNames.stderr)")
            let firstCalls = try Fathom.run(["record", "--libcalls", "--first-calls", "--", "true"])
            #expect(firstCalls.status == 64 && firstCalls.stderr.contains("not for --first-calls"))
        }
    }
#endif
