import TestSupport
import Testing

/// `fathom build` before the builds of real programs, on their sources as they came. Each is recorded and its calls counted
/// by hooks that are not Fathom's.
@Suite struct RealBuildTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("real") }

    /// Copies a program's sources, and builds them by some commands.
    private func build(_ package: String, in folder: String = ".", _ commands: [[String]]) throws -> String {
        let path = directory.file(package)
        try run("cp", ["-r", "\(ExportRecording.directory)/src/\(package)", path])
        for command in commands {
            let built = try Fathom.run(
                ["build", "--"] + command, environment: ["XDG_CACHE_HOME": directory.file("cache")],
                workingDirectory: "\(path)/\(folder)")
            try #require(built.status == 0, "\(command): \(built.stderr.suffix(2000))")
        }
        return path
    }

    /// Records a command: it does what it did without Fathom, and all calls are there.
    private func expectAllCalls(_ command: [String], atLeast calls: Int) throws {
        let session = directory.file("session.fathom")
        let plain = try run(command[0], Array(command.dropFirst()))
        let recorded = try Fathom.record(command, into: session)
        #expect(recorded.status == 0)
        #expect(recorded.stdout == plain.stdout)
        let counts = try Dump(session).counts()
        #expect(counts == (try Truth.counts(command)))
        #expect(counts.values.reduce(0, +) > calls)
        let tree = try Fathom.run(["tree", session, "--max-depth", "1"])
        #expect(tree.stdout.contains("  main\n"), "\(tree.stdout.prefix(500))")
    }

    @Test func luaByMake() throws {
        let path = try build("lua5.4", in: "src", [["make", "linux", "MYCFLAGS=-O0", "MYLIBS="]])
        let session = directory.file("session.fathom")
        let script = try directory.write(
            "for i = 1, 100 do assert(pcall(tostring, i)) end print('done')", to: "script.lua")
        let recorded = try Fathom.record(["\(path)/src/lua", script], into: session)
        #expect(recorded.stdout == "done\n")
        let counts = try Dump(session).counts()
        // Lua's hashes have another seed in every run, so of the others the calls vary.
        #expect(counts["main"] == 1 && counts["luaB_print"] == 1 && counts["luaB_pcall"] == 100, "\(counts.count)")
        #expect(counts["luaB_assert"] == 100 && counts["luaB_tostring"] == 100)
        #expect(try Fathom.run(["tree", session]).stdout.contains("luaB_pcall\n"))
    }

    @Test func zstdByMake() throws {
        let commands = [["make", "-j2", "zstd", "CFLAGS=-O0", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"]]
        let path = try build("libzstd", in: "programs", commands)
        let input = "\(ExportRecording.directory)/input.txt"
        try expectAllCalls(["\(path)/programs/zstd", "-q", "-c", "--single-thread", input], atLeast: 1000)
    }

    @Test func zstdByCMake() throws {
        let configure = ["cmake", "-S", "build/cmake", "-B", "out", "-DCMAKE_C_FLAGS=-O0", "-DZSTD_BUILD_TESTS=OFF"]
        let path = try build("libzstd", [configure, ["cmake", "--build", "out", "-j2", "--target", "zstd"]])
        let input = "\(ExportRecording.directory)/input.txt"
        try expectAllCalls(["\(path)/out/programs/zstd", "-q", "-c", "--single-thread", input], atLeast: 1000)
    }

    @Test func jqByAutoconf() throws {
        let options = ["--with-oniguruma=no", "--disable-maintainer-mode", "--disable-docs", "--disable-shared"]
        let configure = ["./configure", "CFLAGS=-O0"] + options
        let path = try build("jq", [["autoreconf", "-i"], configure, ["make", "-j2"]])
        try expectAllCalls(["\(path)/jq", "-n", "-c", "[1, 2, {a: 3}] | map(type)"], atLeast: 100_000)
    }
}
