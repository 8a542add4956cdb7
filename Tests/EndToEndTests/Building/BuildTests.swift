import Glibc
import TestSupport
import Testing

/// `fathom build` before builds of unchanged sources; what they make is recorded, and its calls are known.
@Suite struct BuildTests {
    private static let output = "14 4\n"

    /// `is_blank` is called once for each of 12 characters, and again for each of 9 letters but the first.
    private static let calls = [
        "main": 1, "shapes::total": 1, "shapes::Square::area": 3, "shapes::Square::Square": 3, "count_words": 1,
        "is_blank": 20,
    ]

    private func expectCalls(_ found: [String: Int]) {
        for (function, count) in Self.calls { #expect(found[function] == count, "\(function)") }
    }

    @Test(arguments: ["g++", "clang++"]) func make(_ compiler: String) throws {
        let project = try Project("libraries")
        let built = try project.build(["make", "CXX=\(compiler)"])
        #expect(built.status == 0, "\(built.stderr)")
        let summary =
            "fathom: 3 of 3 files compiled with hooks; those of system headers have none (--system-headers)\n"
        #expect(built.stderr.hasSuffix(summary), "\(built.stderr)")
        expectCalls(try project.calls(of: "app", printing: Self.output))
        let hooks = try Fathom.run(["info", "\(project.path)/app"])
        #expect(hooks.stdout.contains("\n+ main\n"))
        // Of the C library's start files, which no build can add hooks to, nothing is said.
        #expect(hooks.stdout.contains("of app have hooks") && !hooks.stdout.contains(" _start\n"))
        #expect(hooks.stdout.contains("of libwords.so have hooks: \(project.path)/libwords.so\n"))
    }

    @Test func cmake() throws {
        let project = try Project("libraries")
        try project.cmake(["-DCMAKE_BUILD_TYPE=Debug"])
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
    }

    /// What is compiled to find out about the compiler is not counted as the build's.
    @Test(arguments: [["cmake", "-S", ".", "-B", "out"], ["meson", "setup", "out"]])
    func configuring(_ command: [String]) throws {
        let project = try Project("libraries")
        let configured = try project.build(command)
        #expect(configured.status == 0, "\(configured.stdout)\(configured.stderr)")
        #expect(
            configured.stderr.hasSuffix("fathom: configured; nothing of the program itself is compiled yet\n"),
            "\(configured.stderr)")
        let built = try project.build(command[0] == "cmake" ? ["cmake", "--build", "out"] : ["ninja", "-C", "out"])
        #expect(built.stderr.contains("fathom: 3 of 3 files compiled with hooks"), "\(built.stderr)")
    }

    /// A configured tree stays as it is when Fathom builds something else, where there are fewer compilers.
    @Test func cmakeBesideAnotherPath() throws {
        let project = try Project("libraries")
        let configure = ["cmake", "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=Debug"]
        let configured = try project.build(configure + ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"])
        #expect(configured.status == 0, "\(configured.stderr)")
        let tools = try project.directory.makeDirectory("tools")
        for tool in ["ls", "gcc"] {
            try run("sh", ["-c", "ln -s \"$(command -v \(tool))\" '\(tools)/\(tool)'"])
        }
        let other = try project.build(["ls"], environment: ["PATH": tools])
        #expect(other.status == 0 && other.stderr.contains("nothing was compiled"), "\(other.stderr)")
        let built = try run("cmake", ["--build", "out"], workingDirectory: project.path)
        #expect(built.status == 0, "\(built.stderr)")
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
    }

    @Test func meson() throws {
        let project = try Project("libraries")
        let configured = try project.build(["meson", "setup", "out"])
        #expect(configured.status == 0, "\(configured.stdout)\(configured.stderr)")
        let built = try project.build(["meson", "compile", "-C", "out"])
        #expect(built.status == 0, "\(built.stdout)\(built.stderr)")
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
    }

    /// Objects of a build without Fathom are not linked with others.
    @Test func mixed() throws {
        let project = try Project("libraries")
        #expect(try run("make", [], workingDirectory: project.path).status == 0)
        try run("touch", ["\(project.path)/main.cpp"])
        let mixed = try project.build(["make"])
        #expect(mixed.status != 0)
        #expect(mixed.stderr.contains("libshapes.a(shapes.o) was compiled without Fathom; clean"), "\(mixed.stderr)")
        #expect(try project.build(["make"], options: ["--keep-going"]).status == 0)
        try run("make", ["clean"], workingDirectory: project.path)
        #expect(try project.build(["make"]).status == 0)
        expectCalls(try project.calls(of: "app", printing: Self.output))
        let upToDate = try project.build(["make"])
        #expect(upToDate.status == 0)
        #expect(
            upToDate.stderr.contains("nothing was to be compiled: all is up to date"))
        // A tree that is up to date without hooks is none to be recorded.
        try run("make", ["clean"], workingDirectory: project.path)
        try run("make", [], workingDirectory: project.path)
        let bare = try project.build(["make"])
        #expect(
            bare.status == 1 && bare.stderr.contains(".o has no hooks, because it was made before"), "\(bare.stderr)")
        // Nor is a program that was made in one step.
        let compiler = try run("sh", ["-c", "command -v g++"]).stdout.filter { !$0.isNewline }
        try run("make", ["clean"], workingDirectory: project.path)
        let program = try project.build(["sh", "-c", "\(compiler) words.cpp shapes.cpp main.cpp -o app"])
        #expect(program.status == 1 && program.stderr.contains("app has no hooks"), "\(program.stderr)")
    }

    /// A compiler called by its full path is not seen, what it made is: at the link, or at the end.
    @Test func fullPaths() throws {
        let project = try Project("libraries")
        let compiler = try run("sh", ["-c", "command -v g++"]).stdout.filter { !$0.isNewline }
        let makefile = try project.directory.write(
            """
            include Makefile
            shapes.o: shapes.cpp
            \t\(compiler) -O1 -c shapes.cpp
            words.o: words.cpp
            \t$(CXX) -O1 -c words.cpp
            seen: main.o shapes.o words.o
            \t$(CXX) -o app $^
            unseen: main.o shapes.o words.o
            \t\(compiler) -o app $^
            """, to: "rules")
        let seen = try project.build(["make", "-f", makefile, "seen"])
        #expect(seen.status != 0)
        #expect(seen.stderr.contains("app would be traced in part only: shapes.o was compiled without Fathom"))
        try run("make", ["clean"], workingDirectory: project.path)
        let unseen = try project.build(["make", "-f", makefile, "unseen"])
        #expect(unseen.status == 0, "\(unseen.stderr)")
        #expect(
            unseen.stderr.contains("fathom: 2 of 2 files compiled with hooks")
                && unseen.stderr.contains("\nfathom: warning: shapes.o has no hooks"))
        // Only what this build made.
        #expect(try !project.build(["make", "words.o"]).stderr.contains("warning"))
        try run("make", ["clean"], workingDirectory: project.path)
        let none = try project.build(["make", "CXX=\(compiler)", "main.o"])
        #expect(none.stderr.contains("nothing was compiled through Fathom"), "\(none.stderr)")
        #expect(none.stderr.contains("fathom: warning: main.o has no hooks"))
    }

    /// A tree that was configured without Fathom is built without hooks, which is said with what helps, and which does help.
    @Test(arguments: [
        ["cmake", "-S", ".", "-DCMAKE_CXX_FLAGS=-DKEPT='a;b'", "-B", "out"],
        ["cmake", "-S", ".", "-G", "Ninja", "-DCMAKE_CXX_COMPILER_LAUNCHER=env;A=1", "-B", "in side"],
    ])
    func configuredWithout(_ configure: [String]) throws {
        let project = try Project("libraries"), out = configure.last!
        let configured = try run(configure[0], Array(configure.dropFirst()), workingDirectory: project.path)
        #expect(configured.status == 0, "\(configured.stdout)\(configured.stderr)")
        let command = ["cmake", "--build", out]
        let built = try project.build(command)
        #expect(
            built.status != 0 && built.stderr.contains(" have no hooks: the tree \(out) was configured without Fathom"))
        // Nothing is left to do, and nothing has hooks.
        let again = try project.build(command)
        #expect(
            again.status != 0
                && again.stderr.contains("nothing was compiled through Fathom: the tree \(out) was configured"))
        #expect(again.stderr.contains("begin it again by fathom build -- cmake --fresh, or "), "\(again.stderr)")
        let remedy = try #require(again.stderr.split(separator: "anew: ").last).split(separator: "\n")[0]
        let words = String(remedy).replacing("fathom build", with: "'\(Fathom.executable)' build")
        let anew = try run(
            "sh", ["-c", words],
            environment: Fathom.inherited(adding: ["XDG_CACHE_HOME": project.directory.file("cache")]),
            workingDirectory: project.path)
        #expect(anew.status == 0, "\(anew.stdout)\(anew.stderr)")
        #expect(anew.stderr.contains("3 of 3 files compiled with hooks"))
        #expect(anew.stderr.contains("the tree \(out) calls Fathom in plain builds, too"))
        expectCalls(try project.calls(of: "\(out)/app", printing: Self.output))
        // What the tree was configured with stays.
        let cache = try run("cat", ["\(project.path)/\(out)/CMakeCache.txt"]).stdout
        let launcher = "=\(out == "out" ? "" : "env;A=1;")\(Fathom.executable);cc\n"
        #expect(cache.contains("CMAKE_CXX_COMPILER_LAUNCHER:UNINITIALIZED\(launcher)"), "\(cache)")
        if out == "out" { #expect(cache.contains("CMAKE_CXX_FLAGS:STRING=-DKEPT='a;b'\n")) }
        // Nothing is left to do, and nothing of Fathom's cache is needed.
        #expect(try project.build(["cmake", "--build", out], options: ["--reconfigure"]).stderr.contains("up to date"))
        try run("rm", ["-rf", project.directory.file("cache")])
        try run("touch", ["\(project.path)/main.cpp"])
        #expect(try run("cmake", ["--build", out], workingDirectory: project.path).status == 0)
        expectCalls(try project.calls(of: "\(out)/app", printing: Self.output))
    }

    /// Meson and autoconf keep a compiler's path where somebody gave it.
    @Test(arguments: ["meson", "autoconf"]) func configuredWithPaths(_ system: String) throws {
        let project = try Project("libraries")
        let compiler = try run("sh", ["-c", "command -v g++"]).stdout.filter { !$0.isNewline }
        if system == "autoconf" {
            try project.directory.write(
                "AC_INIT([p], [1])\nAC_PROG_CXX\nAC_CONFIG_FILES([out/rules:rules.in])\nAC_OUTPUT\n",
                to: "libraries/configure.ac")
            try project.directory.write(
                "CXX = @CXX@\nCXXFLAGS = @CXXFLAGS@\nout/app: main.cpp shapes.cpp words.cpp\n"
                    + "\tfor f in main shapes words; do $(CXX) $(CXXFLAGS) -c $$f.cpp || exit; done; $(CXX) -o $@ *.o\n"
                    + "clean:\n\trm -f *.o out/app\n",
                to: "libraries/rules.in")
            try run("sh", ["-c", "rm Makefile; autoconf && mkdir out"], workingDirectory: project.path)
        }
        let configure =
            system == "meson"
            ? "CXX=\(compiler) meson setup -Db_ndebug=true out"
            : "./configure CXX=\(compiler) CXXFLAGS='-O1 -DKEPT=1' && ln -s out/rules GNUmakefile"
        let configured = try run("sh", ["-c", configure], workingDirectory: project.path)
        try #require(configured.status == 0, "\(configured.stdout)\(configured.stderr)")
        let command = system == "meson" ? ["ninja", "-C", "out"] : ["make"]
        let without = try project.build(command)
        #expect(
            without.status == 1 && without.stderr.contains("anew: fathom build --reconfigure -- \(command[0])"),
            "\(without.stderr)")
        let anew = try project.build(command, options: ["--reconfigure"])
        #expect(anew.stderr.contains("3 of 3 files compiled with hooks"), "\(anew.stdout)\(anew.stderr)")
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
        let kept =
            system == "meson"
            ? try run("meson", ["introspect", "--buildoptions", "out"], workingDirectory: project.path).stdout
            : try run("cat", ["GNUmakefile"], workingDirectory: project.path).stdout
        #expect(kept.contains(system == "meson" ? #""value": "true""# : "= -O1 -DKEPT=1\n"), "\(kept)")
    }

    /// A tree that was configured by way of Fathom builds again after its stand-ins were lost: they are put back, also where there
    /// are other compilers by now, or what they led to was moved.
    @Test func standInsComeBack() throws {
        let project = try Project("libraries"), cache = project.directory.file("cache")
        #expect(try project.build(["cmake", "-S", ".", "-B", "out"]).status == 0)
        let before = try run("find", [cache, "-type", "l", "-name", "c++"]).stdout
        try run("rm", ["-rf", cache])
        #expect(try run("cmake", ["--build", "out"], workingDirectory: project.path).status != 0)
        let tools = try project.directory.makeDirectory("tools")
        try run("sh", ["-c", "ln -s \"$(command -v gcc)\" '\(tools)/gcc-77'"])
        let path = "\(tools):" + (getenv("PATH").map { String(cString: $0) } ?? "")
        let built = try project.build(["cmake", "--build", "out"], environment: ["PATH": path])
        #expect(built.stderr.contains("3 of 3 files compiled with hooks"), "\(built.stdout)\(built.stderr)")
        let link = String(before.split(separator: "\n").first ?? "")
        #expect(try run("find", [cache, "-type", "l", "-name", "c++"]).stdout.contains(link))
        // As after an update to another place.
        try run("sh", ["-c", "ln -sf /nowhere/bin/fathom '\(link)' && touch main.cpp"], workingDirectory: project.path)
        #expect(try run("cmake", ["--build", "out"], workingDirectory: project.path).status != 0)
        #expect(try project.build(["true"]).status == 0)
        #expect(try run("cmake", ["--build", "out"], workingDirectory: project.path).status == 0)
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
    }

    /// Stand-ins that are lost in a cache that is not this user's are not made. What helps is said, and does help.
    @Test func standInsOfOthers() throws {
        let project = try Project("libraries"), others = try project.directory.makeDirectory("others")
        let configured = try Fathom.run(
            ["build", "--", "cmake", "-S", ".", "-B", "out", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"],
            environment: ["XDG_CACHE_HOME": others], workingDirectory: project.path)
        #expect(configured.status == 0, "\(configured.stderr)")
        try run("rm", ["-rf", "\(others)/fathom"])
        let lost = try project.build(["cmake", "--build", "out"])
        #expect(
            lost.status != 0
                && lost.stderr.contains("which is not there any more; configure it anew: fathom build --rec"),
            "\(lost.stderr)")
        let anew = try project.build(["cmake", "--build", "out"], options: ["--reconfigure"])
        #expect(anew.stderr.contains("3 of 3 files compiled with hooks"), "\(anew.stdout)\(anew.stderr)")
        let type = try run("grep", ["CMAKE_BUILD_TYPE:", "\(project.path)/out/CMakeCache.txt"]).stdout
        #expect(type == "CMAKE_BUILD_TYPE:STRING=Debug\n")
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
    }

    /// Objective-C gets hooks as C does. What is of another language is said to be.
    @Test func otherLanguagesBesideC() throws {
        let project = try Project("libraries")
        try project.directory.write("int half(int x) { return x / 2; }\n", to: "libraries/half.m")
        try project.directory.write("int other(void) { return 1; }\n", to: "libraries/other.f90")
        let compiler = try run("sh", ["-c", "command -v gcc"]).stdout.filter { !$0.isNewline }
        let commands = "clang -O1 -c half.m && g++ -c words.cpp && \(compiler) -x c -c other.f90"
        let built = try project.build(["sh", "-c", commands])
        #expect(built.status == 0 && built.stderr.contains("2 of 2 files compiled with hooks"), "\(built.stderr)")
        #expect(built.stderr.contains("warning: other.o has no hooks: compiled from Fortran, which gets none"))
        let symbols = try run("nm", ["half.o"], workingDirectory: project.path).stdout
        #expect(symbols.contains("__cyg_profile_func_enter"), "\(symbols)")
    }

    @Test(arguments: ["g++", "clang++"]) func exclusions(_ compiler: String) throws {
        let project = try Project("libraries")
        let list = try project.directory.write("# too many\nis_blank  # 20 calls\n", to: "list")
        let options = [
            "--exclude-list", list, "--exclude-function", "shapes::Square::S*", "--exclude-file", "shapes.cpp",
        ]
        let built = try project.build(["make", "CXX=\(compiler)"], options: options)
        #expect(built.stderr.contains("fathom: 2 of 3 files compiled with hooks"), "\(built.stderr)")
        let calls = try project.calls(of: "app", printing: Self.output)
        #expect(calls["main"] == 1)
        #expect(calls["count_words"] == 1)
        for function in ["is_blank", "shapes::Square::Square", "shapes::Square::area", "shapes::total"] {
            #expect(calls[function] == nil, "\(function)")
        }
    }

    /// Only functions of the user's own file: none of the standard library's, which are compiled with it.
    @Test(arguments: ["g++", "clang++"]) func only(_ compiler: String) throws {
        let project = try Project("libraries")
        #expect(try project.build(["make", "CXX=\(compiler)"], options: ["--only", "words.cpp"]).status == 0)
        #expect(try project.calls(of: "app", printing: Self.output) == ["count_words": 1, "is_blank": 20])
    }

    /// Compiles and links in one step, by hand and from a response file, with ccache's manners before it.
    @Test func byHand() throws {
        let project = try Project("libraries")
        let response = try project.directory.write("-O1 main.cpp shapes.cpp words.cpp\n-o 'by hand'", to: "response")
        let built = try Fathom.run(["c++", "@\(response)"], workingDirectory: project.path)
        #expect(built.status == 0, "\(built.stderr)")
        expectCalls(try project.calls(of: "by hand", printing: Self.output))
        let clang = ["c++", "clang++", "-O1", "main.cpp", "shapes.cpp", "words.cpp", "-o", "app"]
        let environment = ["FATHOM_BUILD": "exclude-function=main"]
        let second = try Fathom.run(clang, environment: environment, workingDirectory: project.path)
        #expect(second.status == 0, "\(second.stderr)")
        #expect(try project.calls(of: "app", printing: Self.output)["main"] == nil)
    }

    /// A program that loads no library gets the runtime, compiled and linked at once or one after the other; also where
    /// the runtime is named by hand.
    @Test(
        arguments: ["gcc", "clang"],
        [["-static"], ["-static-pie", "-fPIE", "-fuse-ld=bfd"], ["-static"] + Fathom.staticRuntime])
    func staticProgram(_ compiler: String, _ options: [String]) throws {
        let directory = try TemporaryDirectory("static")
        let source = "\(Binaries.sources)/jumps.c"
        let compile = ([compiler, "-pthread"] + options).map { "'\($0)'" }.joined(separator: " ")
        let builds = [
            "once": "\(compile) -O1 '\(source)' -o once",
            "apart": "\(compile) -O1 -c '\(source)' -o jumps.o && \(compile) -o apart jumps.o",
        ]
        let counted = try Binaries.instrumented("jumps.c", .gccO2)
        for (program, script) in builds {
            let built = try Fathom.run(
                ["build", "--", "sh", "-c", script], environment: ["XDG_CACHE_HOME": directory.file("cache")],
                workingDirectory: directory.path)
            #expect(built.status == 0, "\(built.stderr)")
            let session = directory.file("\(program).fathom")
            let plain = try run(directory.file(program), ["100"])
            let recorded = try Fathom.record([directory.file(program), "100"], into: session)
            #expect(recorded.status == plain.status && recorded.stdout == plain.stdout, "\(recorded.stderr)")
            expectEqual(try Dump(session).counts(), try Truth.counts([counted, "100"]))
        }
    }

    /// What is made for another machine, or for none, is linked as it is without Fathom.
    @Test(.enabled(if: Toolchain.isInstalled("aarch64-linux-gnu-gcc")))
    func otherMachines() throws {
        let project = try Project("libraries")
        try writeFile(Array("int main(void) { return 7; }\n".utf8), to: "\(project.path)/seven.c")
        let commands = [
            "aarch64-linux-gnu-gcc -shared -fPIC seven.c -o seven.so", "aarch64-linux-gnu-gcc -static seven.c -o seven",
            "gcc -static -nostdlib -ffreestanding -Wl,-e,main seven.c -o bare", "gcc -r seven.c -static -o seven.o",
        ]
        for command in commands {
            let built = try project.build(["sh", "-c", command])
            // Where nothing gets hooks, that is the build's status, too.
            #expect(built.status == (command.contains("freestanding") ? 1 : 0), "\(command): \(built.stderr)")
        }
    }

    /// Code without a C library gets no hooks, and is linked with what has them.
    @Test func freestanding() throws {
        let project = try Project("libraries")
        let built = try project.build(["make", "CXXFLAGS=-ffreestanding"])
        #expect(built.status == 1, "\(built.stderr)")
        #expect(built.stderr.contains("fathom: 0 of 3 files compiled with hooks"))
        #expect(access("\(project.path)/app", X_OK) == 0)
    }

    /// What asks or preprocesses is left alone, and so is the exit status of what fails.
    @Test func passedThrough() throws {
        let project = try Project("libraries")
        let plain = try run("gcc", ["-E", "words.h", "-o", "-"], workingDirectory: project.path)
        let text = try Fathom.run(["cc", "gcc", "-E", "words.h", "-o", "-"], workingDirectory: project.path)
        #expect(text.stdout == plain.stdout)
        #expect(try Fathom.run(["cc", "gcc", "-dumpversion"]).stdout == run("gcc", ["-dumpversion"]).stdout)
        #expect(try Fathom.run(["cc", "-c", "missing.c"], workingDirectory: project.path).status == 1)
        #expect(try project.build(["sh", "-c", "exit 7"]).status == 7)
        // What the terminal sends ends the build, as it does without Fathom.
        #expect(try project.build(["sh", "-c", "kill -INT $$; exit 0"]).status == 128 + 2)
        let none = try project.build(["no-such-command"])
        #expect(none.status == 1)
        #expect(none.stderr == "fathom: error: cannot run no-such-command: No such file or directory\n")
        #expect(try project.build([]).status == 64)
        let gcc = try project.build(["gcc", "-c", "words.cpp"], options: ["--after-inlining"])
        #expect(gcc.stderr.contains("--after-inlining is an option of clang's"))
    }
}
