import Glibc
import TestSupport
import Testing

/// Build systems that are told in their own files to call Fathom, and those that `fathom build` runs: what they make of unchanged
/// sources is recorded, and its calls are known.
@Suite struct BuildSystemTests {
    private static let output = "14 4\n"
    private static let calls = [
        "main": 1, "shapes::total": 1, "shapes::Square::area": 3, "count_words": 1, "is_blank": 20,
    ]

    /// Where Fathom is installed, for all of these tests.
    private static let prefix = Result {
        let path = "\(try Fathom.sharedDirectory("Installed"))/prefix"
        let installed = try run(
            "\(Binaries.repository)/Tools/install", ["--prefix", path, "--products", Fathom.products], seconds: 600)
        try #require(installed.status == 0, "\(installed.stderr)")
        return path
    }

    private func expectCalls(of program: String, _ project: Project) throws {
        let found = try project.calls(of: program, printing: Self.output)
        for (function, count) in Self.calls { #expect(found[function] == count, "\(function): \(found)") }
    }

    /// Runs a command without Fathom, in the project's directory.
    private func plain(_ command: [String], _ project: Project, environment: [String: String] = [:]) throws {
        let ran = try run(
            command[0], Array(command.dropFirst()),
            environment: Fathom.inherited(
                adding: environment.merging(["XDG_CACHE_HOME": project.directory.file("cache")]) { $1 }),
            workingDirectory: project.path, seconds: 600)
        try #require(ran.status == 0, "\(command): \(ran.stdout)\(ran.stderr)")
    }

    @Test(arguments: ["Unix Makefiles", "Ninja"]) func cmakeToolchain(_ generator: String) throws {
        let project = try Project("libraries"), file = try Self.prefix.get() + "/lib/fathom/cmake/fathom.cmake"
        try plain(["cmake", "-S", ".", "-B", "out", "-G", generator, "--toolchain", file], project)
        try plain(["cmake", "--build", "out"], project)
        try expectCalls(of: "out/app", project)
        // Nobody takes the tree for one without Fathom.
        let built = try project.build(["cmake", "--build", "out"])
        #expect(built.status == 0 && built.stderr.contains("all is up to date"), "\(built.stderr)")
    }

    /// Beside a toolchain file and a launcher of the project's own. Configuring again adds nothing.
    @Test func cmakeBesideAnotherToolchain() throws {
        let project = try Project("libraries"), file = try Self.prefix.get() + "/lib/fathom/cmake/fathom.cmake"
        let toolchain = try project.directory.write("set(CMAKE_CXX_COMPILER clang++)\n", to: "toolchain.cmake")
        let options = [
            "--toolchain", toolchain, "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=\(file)",
            "-DCMAKE_CXX_COMPILER_LAUNCHER=env;A=1",
        ]
        for _ in 1...2 { try plain(["cmake", "-S", ".", "-B", "out"] + options.dropLast() + [options[3]], project) }
        try plain(["cmake", "out"], project)
        let cache = try run("cat", ["\(project.path)/out/CMakeCache.txt"]).stdout
        #expect(cache.contains("_LAUNCHER:STRING=env;A=1;\(try Self.prefix.get())/bin/fathom;cc\n"), "\(cache)")
        try plain(["cmake", "--build", "out"], project)
        try expectCalls(of: "out/app", project)
        let comment = try run("readelf", ["-p", ".comment", "\(project.path)/out/app"]).stdout
        #expect(comment.contains("clang"), "\(comment)")
    }

    @Test func cmakePreset() throws {
        let project = try Project("libraries"), file = try Self.prefix.get() + "/lib/fathom/cmake/presets.json"
        try project.directory.write(
            #"{"version": 4, "include": ["\#(file)"]}"#, to: "libraries/CMakeUserPresets.json")
        try plain(["cmake", "--preset", "fathom"], project)
        try plain(["cmake", "--build", "--preset", "fathom"], project)
        try expectCalls(of: "out/fathom/app", project)
    }

    /// What a tree keeps of an installed Fathom is where that is installed, so it is there when caches are emptied.
    @Test func configuredByTheInstalled() throws {
        let project = try Project("libraries"), prefix = try Self.prefix.get()
        try plain(["\(prefix)/bin/fathom", "build", "--", "cmake", "-S", ".", "-B", "out"], project)
        let cache = try run("cat", ["\(project.path)/out/CMakeCache.txt"]).stdout
        #expect(cache.contains("CMAKE_CXX_COMPILER:FILEPATH=\(prefix)/lib/fathom/compilers/gcc/"), "\(cache)")
        try run("rm", ["-rf", project.directory.file("cache")])
        try plain(["cmake", "--build", "out"], project)
        try expectCalls(of: "out/app", project)
        // Where there is no C++ compiler of such a name, none appears.
        let tools = try project.directory.makeDirectory("tools")
        for tool in ["sh", "gcc"] { try run("sh", ["-c", "ln -s \"$(command -v \(tool))\" '\(tools)/\(tool)'"]) }
        let found = try run(
            "\(prefix)/bin/fathom", ["build", "--", "sh", "-c", "command -v gcc; command -v g++ clang || echo none"],
            environment: ["PATH": tools, "XDG_CACHE_HOME": project.directory.file("cache")])
        #expect(found.stdout.hasSuffix("/gcc\nnone\n"), "\(found)")
    }

    /// By such a name Fathom is a compiler for any build that lets one be named.
    @Test func namedCompiler() throws {
        let project = try Project("libraries"), prefix = try Self.prefix.get()
        try plain(["make", "CXX=\(prefix)/lib/fathom/compilers/gcc/g++"], project)
        try expectCalls(of: "app", project)
    }

    /// Bazel runs compilers where they can write nothing. Debian's has no rules for C++ of its own version besides those in it.
    @Test(.enabled(if: Toolchain.isInstalled("bazel") && access("/usr/share/bazel/rules/java", F_OK) == 0))
    func bazel() throws {
        let project = try Project("libraries"), prefix = try Self.prefix.get()
        let rules =
            [
                "cc_binary", "cc_import", "cc_library", "cc_test", "cc_toolchain", "cc_toolchain_suite",
            ].map { "\($0) = native.\($0)\n" } + ["cc_flags_supplier = None\n", "compiler_flag = None\n"]
        for (file, text) in [
            ("WORKSPACE", ""), ("rules/WORKSPACE", ""), ("rules/cc/BUILD", ""), ("rules/cc/defs.bzl", rules.joined()),
            (
                "BUILD",
                """
                cc_library(name = "words", srcs = ["words.cpp"], hdrs = ["words.h"])
                cc_library(name = "shapes", srcs = ["shapes.cpp"], hdrs = ["shapes.h"])
                cc_binary(name = "app", srcs = ["main.cpp"], deps = [":words", ":shapes"])
                """
            ),
            (
                ".bazelrc",
                """
                build --override_repository=rules_cc=\(project.path)/rules
                build --override_repository=rules_java=/usr/share/bazel/rules/java
                build:fathom --repo_env=CC=\(prefix)/lib/fathom/compilers/gcc/gcc
                """
            ),
        ] {
            if file.contains("/") {
                try run("mkdir", ["-p", "rules/cc"], workingDirectory: project.path)
            }
            try project.directory.write(text, to: "libraries/\(file)")
        }
        let bazel = ["bazel", "--batch", "--output_user_root=\(project.directory.file("bazel"))", "build"]
        defer { _ = try? run("chmod", ["-R", "u+w", project.directory.file("bazel")]) }
        try plain(bazel + ["--config=fathom", "//:app"], project)
        try expectCalls(of: "bazel-bin/app", project)
        try plain(bazel + ["//:app"], project)
        #expect(try run("nm", ["\(project.path)/bazel-bin/app"]).stdout.contains("__cyg_profile") == false)

        // It says so where Bazel is run as other build systems are, and the command that it names does it.
        let refused = try project.build(["bazel", "build", "//:app"])
        let remedy = try #require(refused.stderr.split(separator: "call: bazel build ").last).dropLast()
        #expect(refused.status == 1 && remedy.hasSuffix(" //:app"), "\(refused.stderr)")
        try plain(bazel + remedy.split(separator: " ").map(String.init), project)
        try expectCalls(of: "bazel-bin/app", project)
    }

    /// C in a package of Rust's, which the crate `cc` compiles as Debian has it.
    @Test(.enabled(if: Toolchain.isInstalled("cargo") && access("/usr/share/cargo/registry", F_OK) == 0))
    func cargo() throws {
        let project = try Project("cargo")
        try #require(access("\(project.path)/Cargo.toml", F_OK) == 0)
        let built = try project.build(["cargo", "build", "--offline"])
        #expect(
            built.status == 0 && built.stderr.hasSuffix("fathom: 1 of 1 files compiled with hooks\n"), "\(built.stderr)"
        )
        let calls = try project.calls(of: "target/debug/words", printing: "4\n")
        #expect(calls == ["count_words": 1, "is_blank": 20])
        let again = try project.build(["cargo", "build", "--offline"])
        #expect(again.status == 0 && again.stderr.contains("all is up to date"), "\(again.stderr)")
        // Without, and then through Fathom: nothing is left to do, and nothing has hooks.
        try plain(["cargo", "clean", "--offline"], project)
        try plain(["cargo", "build", "--offline"], project)
        let bare = try project.build(["cargo", "build", "--offline"])
        #expect(
            bare.status == 1 && bare.stderr.contains(".o has no hooks, because it was made before"), "\(bare.stderr)")
    }
}
