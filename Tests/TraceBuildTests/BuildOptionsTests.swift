import TestSupport
import Testing

@testable import TraceBuild

@Suite struct BuildOptionsTests {
    @Test func environment() {
        var options = BuildOptions()
        #expect(BuildOptions(encoded: options.encoded) == options)
        options.afterInlining = true
        options.keepGoing = true
        options.systemHeaders = true
        options.excludedFunctions = ["get*", "operator=", "std::map<int, int>::at"]
        options.excludedFiles = ["*/vendor/*"]
        options.only = ["/src", "/a=b"]
        options.log = "/tmp/log"
        #expect(BuildOptions(encoded: options.encoded) == options)
    }

    @Test func coverage() {
        var options = BuildOptions()
        options.only = ["/src/app", "/src/one.c"]
        options.excludedFiles = ["generated_*.c", "vendor/*"]
        #expect(options.covers("main.c", in: "/src/app"))
        #expect(options.covers("../one.c", in: "/src/app"))
        #expect(!options.covers("../two.c", in: "/src/app"))
        #expect(!options.covers("/src/application/a.c", in: "/"))
        #expect(!options.covers("generated_1.c", in: "/src/app"))
        #expect(!options.covers("vendor/a.c", in: "/src/app"))
        #expect(options.covers("vendored/a.c", in: "/src/app"))
    }

    @Test(arguments: [
        ("luaV_execute\n", "luaV_execute"),
        ("  std::vector<int, a b>::push_back  # 12 %\n", "std::vector<int, a b>::push_back"),
        ("# a comment", nil), ("\n", nil), ("   ", nil), ("a#b", "a#b"),
    ])
    func excludeLists(_ line: String, _ name: String?) { #expect(ExcludeList.name(in: line) == name) }

    @Test func excludeListOfAnotherSystem() throws {
        let directory = try TemporaryDirectory("list")
        let text = "# made by hand\r\nfirst\r\n\r\nfile:  src/a b.h  # 2 %\r\nfile::open\nsecond"
        let list = try ExcludeList(path: try directory.write(text, to: "list"))
        #expect(list.functions == ["first", "file::open", "second"])
        #expect(list.files == ["src/a b.h"])
    }

    @Test func gccTakesPartsOfNames() {
        var options = BuildOptions()
        options.excludedFunctions = ["get_*", "a,b", "*"]
        #expect(
            HookFlags.all(.gcc, options, systemHeaders: ["/usr/include/", "/opt/a,b/"]).suffix(2) == [
                "-finstrument-functions-exclude-function-list=get_,a\\,b",
                "-finstrument-functions-exclude-file-list=/usr/include/,/opt/a\\,b/",
            ])
        #expect(
            HookFlags.all(.clang, options) == ["-finstrument-functions", "-g", "-frecord-gcc-switches", HookFlags.jump])
    }
}
