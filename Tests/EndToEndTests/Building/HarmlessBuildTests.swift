import Glibc
import TestSupport
import Testing

/// `fathom build` before builds that look at what they make, or that are not to be changed in other ways.
@Suite struct HarmlessBuildTests {
    private let project: Project

    init() throws { project = try Project("libraries") }

    /// A library needs nothing by the name of a hook, with or without symbols, and has hooks all the same.
    @Test(arguments: ["g++", "clang++"]) func checkedSymbols(_ compiler: String) throws {
        let built = try project.build(["make", "CXX=\(compiler)"])
        #expect(built.status == 0, "\(built.stderr)")
        let library = "\(project.path)/libwords.so"
        for (option, table) in [("-u", "needed"), ("-D", "dynamic")] {
            let symbols = try run("nm", [option, library]).stdout
            #expect(!symbols.contains("__cyg_profile") && !symbols.contains("_exit"), "\(table): \(symbols)")
        }
        let hooks = "# 2 of 2 functions of libwords.so have hooks: \(library)\n+ "
        #expect(try Fathom.run(["info", library]).stdout.hasPrefix(hooks))
        try run("strip", [library])
        #expect(try Fathom.run(["info", library]).stdout.hasPrefix("# 1 of 1 functions of libwords.so have hooks"))
        #expect(try run("\(project.path)/app", []).stdout == "14 4\n")
        #expect(try project.calls(of: "app", printing: "14 4\n")["count_words"] == 1)
        let program = try run("nm", ["-u", "\(project.path)/app"]).stdout
        #expect(program.contains("__cyg_profile_func_exit"), "programs are as other tracers want them")
    }

    /// Hooks make frames larger. The plain build, where a frame is small enough, decides that this is no error; where
    /// it is an error there, it is one here, told once.
    @Test(arguments: [("gcc", "-Wstack-usage=16"), ("clang", "-Wframe-larger-than=8")])
    func warningsAsErrors(_ compiler: String, _ warning: String) throws {
        let source = try project.directory.write(
            "int leaf(int a) { return a + 1; }\nint other(int a) { return leaf(a) * 2; }\n#ifdef WRONG\nint f(void) { int a[99]; }\n#endif\n"
                + "int main(void) { return other(1) - 4; }\n", to: "small.c")
        let options = ["-O2", "-Wall", "-Werror", warning, source, "-o", project.directory.file("small")]
        #expect(try run(compiler, options).status == 0)
        #expect(try run(compiler, ["-finstrument-functions"] + options).status != 0, "hooks change nothing")
        let built = try project.build([compiler] + options)
        #expect(built.status == 0 && built.stderr == "fathom: 1 of 1 files compiled with hooks\n", "\(built.stderr)")
        let info = try Fathom.run(["info", project.directory.file("small")]).stdout
        #expect(info.contains("\n+ leaf\n") && info.contains("\n+ other\n"))
        let plain = try run(compiler, ["-DWRONG"] + options)
        let wrong = try project.build([compiler, "-DWRONG"] + options)
        #expect(wrong.status == plain.status && wrong.status != 0)
        #expect(wrong.stderr == plain.stderr)
    }

    /// Compilers are never taken from where others can put some, whatever the environment says of this user's home.
    @Test(arguments: [[], ["HOME=shared"], ["XDG_CACHE_HOME=shared"], ["HOME="], ["HOME=/nonexistent"]])
    func homesOfOthers(_ variables: [String]) throws {
        let shared = project.directory.file("shared")
        try run("mkdir", ["-m", "777", shared])
        let environment = variables.map { $0.replacing("=shared", with: "=\(shared)") }
        let built = try run(
            "env",
            ["-u", "HOME", "-u", "XDG_CACHE_HOME"] + environment + [
                Fathom.executable, "build", "--", "sh", "-c", "command -v cc",
            ])
        if built.status == 0 {
            let path = String(built.stdout.split(separator: "\n")[0])
            #expect(path.hasSuffix("/cc") && path.contains("/fathom/compilers/") && !path.hasPrefix("/tmp"), "\(path)")
            #expect(!path.hasPrefix(shared))
            let permissions = try run("stat", ["-c", "%u %a", String(path.dropLast(3))]).stdout
            #expect(permissions == "\(geteuid()) 700\n" || permissions == "\(geteuid()) 755\n", "\(permissions)")
        } else {
            // A user without a home is told what to do.
            #expect(built.stderr.split(separator: "\n").count == 1, "\(built.stderr)")
        }
        #expect(try run("ls", ["-A", shared]).stdout.isEmpty)
        #expect(access("/nonexistent", F_OK) != 0)
    }

    /// What succeeds warns as ever.
    @Test func warningsStay() throws {
        let source = try project.directory.write("static int unused;\nint main(void) { return 0; }\n", to: "warn.c")
        let options = ["-Wall", "-Werror=return-type", source, "-o", project.directory.file("warn")]
        let built = try project.build(["gcc"] + options)
        #expect(built.status == 0)
        #expect(built.stderr.hasPrefix(try run("gcc", options).stderr) && built.stderr.contains("-Wunused-variable"))
    }

    private static let templates = """
        #include <algorithm>
        #include <cstdio>
        #include <string>
        #include <vector>
        #include "own.h"
        int main() {
            std::vector<std::string> words;
            for (int i = 0; i < own::count(); i++) words.push_back(std::to_string(i));
            std::sort(words.begin(), words.end(), own::less);
            std::puts(words.back().c_str());
        }
        """
    private static let ownHeader = """
        #include <string>
        namespace own {
        inline int count() { return 10; }
        inline bool less(const std::string &a, const std::string &b) { return a < b; }
        }
        """

    /// Templates and inline functions of the C++ library have no hooks unless asked for; the project's own headers have,
    /// wherever it lies.
    @Test(arguments: ["g++", "clang++"], ["src", "usr/include/src"])
    func systemHeaders(_ compiler: String, _ place: String) throws {
        let directory = project.directory.file(place)
        try run("mkdir", ["-p", directory])
        let source = try project.directory.write(Self.templates, to: "\(place)/main.cpp")
        _ = try project.directory.write(Self.ownHeader, to: "\(place)/own.h")
        func functions(_ options: [String]) throws -> Set<String> {
            let command = [compiler, "-O1", "-I\(directory)", source, "-o", "\(project.path)/app"]
            let built = try project.build(command, options: options)
            #expect(built.status == 0, "\(built.stderr)")
            return Set(try project.calls(of: "app", printing: "9\n").keys)
        }
        #expect(try functions([]) == ["main", "own::count", "own::less"])
        let all = try functions(["--system-headers"])
        #expect(all.isSuperset(of: ["main", "own::count", "own::less"]) && all.count > 20, "\(all.count)")
        #expect(all.contains { $0.hasPrefix("std::sort") })
    }

    /// Each part of a coroutine has hooks, with clang as with gcc.
    @Test(arguments: ["g++", "clang++"]) func coroutines(_ compiler: String) throws {
        let command = [
            compiler, "-std=c++20", "-O2", "\(Binaries.sources)/numbers.cpp", "-o", "\(project.path)/numbers",
        ]
        let built = try project.build(command)
        #expect(built.status == 0, "\(built.stderr)")
        let calls = try project.calls(of: "numbers", printing: "6\n")
        #expect(calls["twice"] == 3 && calls["main"] == 1)
        // Before its first suspension, then three values and the end.
        #expect(calls.filter { $0.key.contains("numbers") && !$0.key.contains("destroy") }.values.max() ?? 0 >= 4)
    }

    /// Where gcc itself fails because of hooks alone, it is said, whether warnings are errors or not.
    @Test(arguments: [[], ["-Werror"]]) func failsWithHooks(_ flags: [String]) throws {
        let command =
            ["g++", "-std=gnu++20", "-O2"] + flags
            + ["\(Binaries.sources)/coroutine_transfer.cpp", "-o", "\(project.path)/transfer"]
        let bare = try run(
            "g++",
            flags + [
                "-std=gnu++20", "-O2", "-finstrument-functions", "-c", "\(Binaries.sources)/coroutine_transfer.cpp",
                "-o", "/dev/null",
            ])
        let built = try project.build(command)
        #expect((built.status == 0) == (bare.status == 0), "\(built.stderr)")
        #expect(
            built.stderr.contains(
                "itself fails on \(Binaries.sources)/coroutine_transfer.cpp where functions call hooks")
                == (bare.status != 0), "\(built.stderr)")
        let broken = try project.build(command.map { $0 == "-O2" ? "-DTask=" : $0 })
        #expect(broken.status != 0 && !broken.stderr.contains("itself fails"), "\(broken.stderr)")
        let dormant = try project.build(command, options: ["--dormant"])
        #expect(dormant.status == 0, "\(dormant.stderr)")
        #expect(try run("\(project.path)/transfer", []).status == 0)
    }

    /// What compiles other languages gets no advice on make.
    @Test func otherLanguages() throws {
        let refused = try project.build(["rustc", "main.rs"])
        #expect(refused.status == 1)
        #expect(refused.stderr == "fathom: error: rustc compiles Rust, which gets no hooks: only C, C++ and Swift do\n")
        let tools = try project.directory.makeDirectory("tools")
        try run("sh", ["-c", "printf '#!/bin/sh\\n' >'\(tools)/cargo' && chmod +x '\(tools)/cargo'"])
        let built = try project.build(["\(tools)/cargo", "build"])
        #expect(built.status == 1)
        #expect(built.stderr.contains("this build is of Rust, and only C, C++ and Swift get hooks"))
        #expect(!built.stderr.contains("clean it"))
    }

    /// Objects that another build makes meanwhile, in another place, are none of this one's.
    @Test func anotherBuildMeanwhile() throws {
        try run("cp", ["-r", project.path, "\(project.path)-copy"])
        try run("mv", ["\(project.path)-copy", "\(project.path)/other"])
        try run("sh", ["-c", "mkdir here && mv *.* Makefile here"], workingDirectory: project.path)
        let plain = try run("sh", ["-c", "command -v g++"]).stdout.filter { !$0.isNewline }
        let both = "make -C here main.o && cd other && \(plain) -c main.cpp"
        let built = try project.build(["sh", "-c", both])
        #expect(built.status == 0 && !built.stderr.contains("warning"), "\(built.stderr)")
        let own = try project.build([
            "sh", "-c", "touch here/main.cpp && make -C here main.o && \(plain) -c here/words.cpp -o here/words.o",
        ])
        #expect(own.stderr.contains("warning: here/words.o has no hooks"), "\(own.stderr)")
    }
}
