import TestSupport
import Testing

@testable import TraceBuild

/// Which headers are the system's, for clang by path and for gcc by parts of paths.
@Suite struct SystemHeadersTests {
    private static let own = ["/usr/include/c++/12", "/usr/lib/gcc/x/12/../../../../include/c++/12", "/usr/include"]

    @Test func usualProject() {
        let headers = SystemHeaders(directories: Self.own, project: ["/home/me/app/a.cpp", "/home/me/app"])
        #expect(headers.hold("/usr/include/c++/12/bits/stl_vector.h"))
        #expect(headers.hold("/usr/include/stdio.h"))
        #expect(!headers.hold("/usr/include-more/a.h"))
        #expect(!headers.hold("/home/me/app/usr/include/a.h"))
        #expect(
            headers.texts(besides: ["include", "/usr/include/libxml2", "/home/me/inc"]) == [
                "/usr/lib/gcc/x/12/../../../../include/c++/12/", "/usr/include/",
            ])
        #expect(SystemHeaders.none.texts(besides: []) == [] && !SystemHeaders.none.hold("/usr/include/stdio.h"))
    }

    /// The project lies in a directory that the compiler searches. Then the entry that holds the project is no system header.
    @Test func projectAmongSystemHeaders() throws {
        let directory = try TemporaryDirectory("headers")
        let system = directory.file("include")
        for entry in ["app", "application", "lib"] { try run("mkdir", ["-p", "\(system)/\(entry)"]) }
        let headers = SystemHeaders(directories: [system], project: ["\(system)/app/src/a.cpp"])
        #expect(!headers.hold("\(system)/app/a.h"))
        #expect(headers.hold("\(system)/application/a.h"))
        #expect(headers.hold("\(system)/lib/a.h"))
        #expect(headers.texts(besides: []) == ["\(system)/application", "\(system)/lib"])
    }

    /// gcc would find "/usr/include/" in the paths of this project, too.
    @Test func projectWithSuchAPath() throws {
        let directory = try TemporaryDirectory("headers")
        let system = directory.file("usr/include")
        for entry in ["lib", "std.h"] { try run("mkdir", ["-p", "\(system)/\(entry)"]) }
        for (project, include) in [("/build\(system)/app", [String]()), ("/app", ["/build\(system)"])] {
            let headers = SystemHeaders(directories: [system], project: ["\(project)/a.cpp", project])
            #expect(headers.texts(besides: include) == ["\(system)/lib", "\(system)/std.h"])
            #expect(!headers.hold("\(project)/a.h"))
        }
    }

    @Test func askedCompiler() throws {
        let directory = try TemporaryDirectory("headers")
        let (third, own) = (try directory.makeDirectory("third"), try directory.makeDirectory("own"))
        let path = try #require(Compiler.find("g++"))
        let compiler = Compiler(path: path, family: .gcc)
        let log = try BuildLog.make()
        defer { log.remove() }
        for _ in 0..<2 {  // asked, and known
            let line = ["-isystem", third, "-isystem\(own)", "-Iinc", "-c", "own/a.cpp"]
            let headers = SystemHeaders(compiler, CompilerInvocation(line), in: directory.path, log: log)
            #expect(headers.hold("/usr/include/stdio.h"))
            #expect(headers.hold("\(third)/a.h"))
            #expect(!headers.hold("\(own)/a.h"), "it holds what is compiled")
            #expect(!headers.hold("\(directory.path)/inc/a.h"))
        }
    }

    @Test func options() {
        let invocation = CompilerInvocation(
            [
                "-I", "a", "-Ib", "-isystem", "c", "-iquote", "d", "-nostdinc++", "--sysroot=/r", "-o", "-isystem",
                "x.cpp",
            ])
        #expect(invocation.includeDirectories == ["a", "b", "d"])
        #expect(invocation.systemDirectories == ["c"])
        #expect(invocation.searchOptions == ["-isystem", "c", "-nostdinc++", "--sysroot=/r"])
        #expect(invocation.isCXX && !CompilerInvocation(["-c", "x.c"]).isCXX)
    }
}

/// Where a build was at work.
@Suite struct BuildTreeTests {
    @Test(arguments: [
        ([], ""), (["/w/a/src", "/w/a/src/sub"], "a/src"), (["/w/a", "/w/b"], ""), (["/tmp/x", "/w/ab"], "ab"),
        (["/w"], ""), (["/tmp/x"], ""),
    ])
    func region(_ directories: [String], _ region: String) {
        #expect(BuildTree.region(of: Set(directories.map { .directory($0) }), in: "/w") == region)
    }
}
