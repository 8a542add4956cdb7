#if arch(x86_64)
    import TestSupport
    import Testing

    /// `record --any`: calls of libraries that programs load while they run.
    @Suite struct DetourLoadingTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        init() throws { directory = try TemporaryDirectory("detours-of-libraries") }

        private func counts() throws -> [String: Int] { try Fathom.calls(in: session) }

        private func record(_ program: [String], _ options: [String] = []) throws -> ProcessOutput {
            try Fathom.record(program, into: session, options: ["--quiet", "--any"] + options)
        }

        /// Who calls `dlopen` in the place of itself is whom the dynamic linker takes for its caller.
        @Test func opensInPlaceOfItself() throws {
            let plugin = try Toolchain.compile(
                sources: ["plugin.c": "int plugged(int n) { return n * 3 + 1; }\n"], compiler: .gcc,
                flags: ["-O1", "-shared", "-fPIC"], output: directory.file("libonly.so"))
            #expect(plugin.hasSuffix("libonly.so"))
            let program = try Toolchain.compile(
                sources: [
                    "opens.c": """
                    #include <dlfcn.h>
                    #include <stdio.h>
                    __attribute__((noinline)) void *opened(const char *name) { return dlopen(name, RTLD_NOW); }
                    int main(void) {
                        void *plugin = opened("libonly.so");
                        if (!plugin) puts(dlerror());
                        return plugin ? ((int (*)(int))dlsym(plugin, "plugged"))(5) : 1;
                    }
                    """
                ], compiler: .gcc, flags: ["-O2", "-Wl,-rpath,$ORIGIN"], libraries: ["-ldl"],
                output: directory.file("opens"))
            let output = try record([program])
            #expect(output.status == 16, "\(output.stdout)\(output.stderr)")
            #expect(try counts() == ["main": 1, "opened": 1, "plugged": 1])
        }

        /// What dlsym finds behind its caller (RTLD_NEXT) is what is behind whoever jumped to it.
        @Test(arguments: [[], ["--libcalls"]], ["dlsym", "*pointer"])
        func searchesByJumps(_ options: [String], _ function: String) throws {
            let library = try Toolchain.compile(
                sources: [
                    "front.c": """
                    #define _GNU_SOURCE
                    #include <dlfcn.h>
                    #include <stdio.h>
                    #include <stdlib.h>
                    static void *(*volatile pointer)(void *, const char *) = dlsym;
                    __attribute__((noipa)) static void *next(const char *name) { return (\(function))(RTLD_NEXT, name); }
                    int puts(const char *text) {
                        static int depth;
                        if (depth++ > 3) _Exit(3);
                        (void)pointer;
                        int result = ((int (*)(const char *))next("puts"))(text);
                        depth--;
                        return result;
                    }
                    """
                ], compiler: .gcc, flags: ["-O2", "-shared", "-fPIC"], libraries: ["-ldl"],
                output: directory.file("libfront.so"))
            let program = try Toolchain.compile(
                sources: ["caller.c": "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n"],
                compiler: .gcc, flags: ["-O1"], libraries: [library, "-Wl,-rpath,\(directory.path)"],
                output: directory.file("caller"))
            let output = try record([program], options)
            #expect(output.status == 0 && output.stdout == "hello\n", "\(output.status) \(output.stderr)")
            #expect(try counts()["next"] == 1)
        }

        /// A program that loads the library that it is given 20 times, and calls what is in there.
        private func loader() throws -> String {
            try Toolchain.compile(
                sources: [
                    "loading.c": """
                    #include <dlfcn.h>
                    #include <stdio.h>
                    int main(int count, char **arguments) {
                        int sum = 0;
                        for (int i = 0; i < 20; i++) {
                            void *plugin = dlopen(arguments[1], RTLD_NOW);
                            int (*plugged)(int) = (int (*)(int))dlsym(plugin, "plugged");
                            sum += plugged(i);
                            dlclose(plugin);
                        }
                        printf("%d\\n", sum);
                    }
                    """
                ], compiler: .gcc, flags: ["-O1"], libraries: ["-ldl"], output: directory.file("loading"))
        }

        /// A library that is loaded gets detours before its constructors run, each time anew.
        @Test func loadedLibraries() throws {
            let plugin = try Toolchain.compile(
                sources: [
                    "plugin.c": """
                    __attribute__((noinline)) int step(int n) { return n * 3 + 1; }
                    static int made;
                    __attribute__((constructor)) static void make(void) { made = step(1); }
                    int plugged(int n) { return step(n) + step(made); }
                    """
                ], compiler: .gcc,
                flags: [
                    "-O1", "-shared", "-fPIC", "-fvisibility=hidden",
                    "-Dplugged=__attribute__((visibility(\"default\")))plugged",
                ],
                output: directory.file("plugin.so"))
            let program = try loader()
            let output = try record([program, plugin])
            #expect(output.status == 0 && output.stdout == "850\n", "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
            let found = try counts()
            #expect(found["plugged"] == 20 && found["step"] == 60 && found["make"] == 20, "\(found)")
        }

        /// A library has two segments of code, as those have of which BOLT has moved functions, and exceptions go through both. It is
        /// loaded anew each time.
        @Test(arguments: [[], ["--mode", "counts"], ["--libcalls"]])
        func severalSegments(_ options: [String]) throws {
            let plugin = try Toolchain.compile(
                sources: [
                    "plugin.cpp": """
                    #define KEEP __attribute__((noinline))
                    #define HOT KEEP __attribute__((section(".hot")))
                    extern "C" {
                    KEEP int cold(int n) {
                        if (n % 5 == 0) throw n;
                        return n * 3 + 1;
                    }
                    HOT int hot(int n) { return cold(n) + 1; }
                    KEEP int warm(int n) { return hot(n) + 1; }
                    HOT int plugged(int n) {
                        try {
                            return warm(n);
                        } catch (int thrown) {
                            return thrown;
                        }
                    }
                    }
                    """
                ], compiler: .gxx, flags: ["-O1", "-shared", "-fPIC", "-Wl,--section-start=.hot=0x800000"],
                output: directory.file("plugin.so"))
            let segments = try TestSupport.run("readelf", ["-lW", plugin]).stdout.split(separator: "\n")
            #expect(segments.count { $0.contains("LOAD") && $0.contains("R E") } == 2, "\(segments)")
            let program = try loader()
            let output = try record([program, plugin], options)
            #expect(output.status == 0 && output.stdout == "558\n", "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
            let found = try counts().filter { ["plugged", "warm", "hot", "cold"].contains($0.key) }
            #expect(found == ["plugged": 20, "warm": 20, "hot": 20, "cold": 20])
            let told = try Fathom.run(["info", session]).stdout
            #expect(told.contains("4 functions of plugin.so have detours"), "\(told)")
        }

        /// Threads load a library and fork at once, and what the children do is what they do without it.
        @Test(arguments: ["free", "locked"], ["--any", "--libcalls"])
        func forksWhileLoading(_ how: String, _ option: String) throws {
            let plugin = try Toolchain.compile(
                sources: ["plugin.c": "int plugged(int n) { return n * 3 + 1; }\n"], compiler: .gcc,
                flags: ["-O1", "-shared", "-fPIC"], output: directory.file("plugin.so"))
            let program = try Binaries.make(
                "fork_loading", command: "gcc", ["-O1", "-Wall", "-Wextra", "-Werror"],
                ["\(Binaries.sources)/fork_loading.c"], ["-lpthread", "-ldl"])
            let plain = try TestSupport.run(program, [plugin, how])
            for _ in 0..<5 {
                let output = try Fathom.record([program, plugin, how], into: session, options: ["--quiet", option])
                #expect(output.status == 0 && output.stdout == plain.stdout, "\(output.stdout)\(output.stderr)")
                try Fathom.isWhole(session)
            }
        }

        /// A handler that loads a library, and calls functions then, has a small stack above memory that cannot be read.
        @Test(arguments: [
            ["--any"], ["--any", "--mode", "counts"], ["--any", "--mode", "stack"], ["--any", "--budget", "1%"],
            ["--any", "--libcalls"], ["--libcalls"],
        ])
        func smallStacksOfHandlers(_ options: [String]) throws {
            let plugin = try Toolchain.compile(
                sources: ["plugin.c": "int plugged(int n) { return n * 3 + 1; }\n"], compiler: .gcc,
                flags: ["-O1", "-shared", "-fPIC"], output: directory.file("plugin.so"))
            let program = try Toolchain.compile(
                sources: [
                    "program.c": """
                    #define _GNU_SOURCE
                    #include <dlfcn.h>
                    #include <signal.h>
                    #include <stdlib.h>
                    #include <sys/mman.h>
                    #include <unistd.h>
                    #define KEEP __attribute__((noinline, noclone))
                    static const char *name;
                    KEEP int leaf(int n) { return n * 5 + 2; }
                    static void handle(int signal) {
                        void *library = dlopen(name, RTLD_NOW);
                        int (*plugged)(int) = (int (*)(int))dlsym(library, "plugged");
                        int sum = 0;
                        for (int i = 0; i < 20000; i++) sum += leaf(i) + plugged(i);
                        _exit(sum == 1599980000 ? 3 : 4);
                    }
                    int main(int count, char **arguments) {
                        size_t size = atoi(arguments[1]), page = 4096;
                        name = arguments[2];
                        for (int i = 0; i < 100; i++) leaf(i);
                        char *memory = mmap(0, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                        mprotect(memory, page, PROT_NONE);
                        stack_t stack = {.ss_sp = memory + page, .ss_size = size};
                        sigaltstack(&stack, 0);
                        struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
                        sigaction(SIGSEGV, &action, 0);
                        *(volatile int *)8 = count;
                    }
                    """
                ], compiler: .gcc, flags: ["-O1"], libraries: ["-ldl"], output: directory.file("program"))
            for size in stride(from: 10240, through: 20480, by: 1024) {
                let plain = try TestSupport.run(program, ["\(size)", plugin])
                #expect(plain.status == 3)
                let output = try Fathom.record(
                    [program, "\(size)", plugin], into: session, options: ["--quiet"] + options)
                #expect(output.status == plain.status, "\(size): \(output.stderr)")
            }
        }

        /// A thread's first call that is recorded is in a handler that has a small stack.
        @Test(arguments: [
            [], ["--blocked"], ["--any"], ["--any", "--mode", "counts"], ["--any", "--libcalls"],
        ])
        func firstCallsOnSmallStacks(_ options: [String]) throws {
            let hooks = options.contains("--any") ? [] : ["-finstrument-functions"]
            let program = try Toolchain.compile(
                sources: [
                    "program.c": """
                    #define _GNU_SOURCE
                    #include <pthread.h>
                    #include <signal.h>
                    #include <stdlib.h>
                    #include <sys/mman.h>
                    #include <unistd.h>
                    /* It has no hooks, and no table tells of it, so it gets no detour. */
                    void *begin(void *stack);
                    __asm__(".text\\n.globl begin\\n.type begin, @function\\nbegin: sub $8, %rsp\\nxor %esi, %esi\\n"
                            "call sigaltstack@plt\\nmov $60, %edi\\ncall sleep@plt\\nadd $8, %rsp\\nxor %eax, %eax\\nret\\n"
                            ".size begin, . - begin\\n");
                    static volatile int sum;
                    __attribute__((noinline)) int leaf(int n) { return n * 5 + 2; }
                    static void handle(int signal) {
                        for (int i = 0; i < 1000; i++) sum += leaf(i);
                    }
                    int main(int count, char **arguments) {
                        size_t size = atoi(arguments[1]), page = 4096;
                        char *memory = mmap(0, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                        mprotect(memory, page, PROT_NONE);
                        stack_t stack = {.ss_sp = memory + page, .ss_size = size};
                        struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
                        sigaction(SIGUSR1, &action, 0);
                        pthread_t thread;
                        pthread_create(&thread, 0, begin, &stack);
                        while (!sum) usleep(20000), pthread_kill(thread, SIGUSR1);
                        pthread_cancel(thread);
                        pthread_join(thread, 0);
                        return 3;
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-Wl,-z,now"] + hooks, libraries: ["-lpthread"],
                output: directory.file("program"))
            for size in stride(from: 4096, through: 12288, by: 1024) {
                // The kernel's part of it depends on the processor.
                let plain = try TestSupport.run(program, ["\(size)"])
                if plain.status != 3 { continue }
                let output = try Fathom.record(
                    [program, "\(size)"], into: session, options: ["--quiet"] + options)
                #expect(output.status == 3, "\(size): \(output.stderr)")
            }
        }

        /// What is loaded later and can have no detours is told of when the program has ended, but not what was told of before.
        @Test func refusedLibraries() throws {
            func library(_ name: String) throws -> String {
                try Toolchain.compile(
                    sources: [
                        "library.c": """
                        __attribute__((section(".go.buildinfo"))) const char info[16] = "info";
                        int \(name)(int n) { return n * 2; }
                        """
                    ], compiler: .gcc, flags: ["-O1", "-shared", "-fPIC"], output: directory.file("lib\(name).so"))
            }
            let (needed, later) = (try library("needed"), try library("later"))
            let program = try Toolchain.compile(
                sources: [
                    "program.c": """
                    #include <dlfcn.h>
                    int needed(int n);
                    int main(int count, char **arguments) {
                        void *library = dlopen(arguments[count - 1], RTLD_NOW);
                        return ((int (*)(int))dlsym(library, "later"))(needed(4));
                    }
                    """
                ], compiler: .gcc, flags: ["-O1"], libraries: [needed, "-ldl"], output: directory.file("program"))
            let output = try Fathom.record([program, later], into: session, options: ["--any"])
            #expect(output.status == 16, "\(output.stderr)")
            for name in ["libneeded.so", "liblater.so"] {
                let refusals = output.stderr.split(separator: "\n").filter {
                    $0.contains("--any: \(name) has the runtime of Go")
                }
                #expect(refusals.count == 1, "\(output.stderr)")
            }
        }
    }
#endif
