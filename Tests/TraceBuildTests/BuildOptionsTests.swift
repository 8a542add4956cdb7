import TestSupport
import Testing

@testable import TraceBuild

@Suite struct BuildOptionsTests {
    @Test func environment() {
        var options = BuildOptions()
        #expect(BuildOptions(encoded: options.encoded) == options)
        options.afterInlining = true
        options.keepGoing = true
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
        let list = try directory.write("# made by hand\r\nfirst\r\n\r\nsecond", to: "list")
        #expect(try ExcludeList.read(list) == ["first", "second"])
    }

    @Test func gccTakesPartsOfNames() {
        var options = BuildOptions()
        options.excludedFunctions = ["get_*", "a,b", "*"]
        options.only = ["/home/me"]
        #expect(
            HookFlags.all(.gcc, options).suffix(2) == [
                "-finstrument-functions-exclude-function-list=get_,a\\,b",
                "-finstrument-functions-exclude-file-list=/usr/include/,/usr/lib/",
            ])
        #expect(HookFlags.all(.clang, options) == ["-finstrument-functions", "-g", "-frecord-gcc-switches"])
    }
}
