internal import Glibc
import TestSupport
import Testing

@testable import TraceBuild

/// Directories of stand-ins: what was made once stays, whoever makes others.
@Suite struct StandInsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func make(of program: String, _ names: Set<String>) throws -> String {
        try StandIns.make(of: program, for: names, in: directory.file("fathom"))
    }

    private func expectLinks(in path: String, _ names: [String], to program: String) throws {
        #expect(try run("ls", ["-A", path]).stdout.split(separator: "\n").map(String.init) == names.sorted())
        for name in names { #expect(try run("readlink", ["\(path)/\(name)"]).stdout == program + "\n") }
    }

    @Test func onePerSet() throws {
        let all = try make(of: "/opt/f/fathom", ["gcc", "clang", "cc"])
        let fewer = try make(of: "/opt/f/fathom", ["gcc", "cc"])
        let other = try make(of: "/opt/g/fathom", ["gcc", "clang", "cc"])
        #expect(Set([all, fewer, other]).count == 3)
        #expect(try make(of: "/opt/f/fathom", ["cc", "gcc", "clang"]) == all)
        try expectLinks(in: all, ["gcc", "clang", "cc"], to: "/opt/f/fathom")
        try expectLinks(in: fewer, ["gcc", "cc"], to: "/opt/f/fathom")
        try expectLinks(in: other, ["gcc", "clang", "cc"], to: "/opt/g/fathom")
        // What was lost comes back.
        unlink(all + "/gcc")
        #expect(try make(of: "/opt/f/fathom", ["cc", "gcc", "clang"]) == all)
        try expectLinks(in: all, ["gcc", "clang", "cc"], to: "/opt/f/fathom")
        for path in [all, fewer + "/", other, "/cache/fathom/compilers"] {
            #expect(StandIns.isDirectory(path), "\(path)")
        }
        for path in ["/usr/bin", "/", "", "/cache/fathom/compilers/bin", "/opt/compilers/0123456789abcdef"] {
            #expect(!StandIns.isDirectory(path), "\(path)")
        }
    }

    /// What leads nowhere leads here; what leads to another Fathom stays.
    @Test func movedProgram() throws {
        let old = directory.file("old"), other = directory.file("other"), new = directory.file("new")
        for path in [old, other, new] { try run("touch", [path]) }
        let gone = try make(of: old, ["gcc", "cc"]), stays = try make(of: other, ["gcc"])
        unlink(old)
        StandIns.mend(in: directory.file("fathom"), for: new)
        try expectLinks(in: gone, ["cc", "gcc"], to: new)
        try expectLinks(in: stays, ["gcc"], to: other)
        for path in ["/usr/lib/fathom/compilers/gcc", "/usr/lib/fathom/compilers/swift/"] {
            #expect(StandIns.isDirectory(path))
        }
    }

    /// What others could change is not executed.
    @Test func privateDirectories() throws {
        let open = directory.file("open"), closed = directory.file("closed")
        for path in [open, closed] { #expect(mkdir(path, 0o755) == 0) }
        #expect(try CacheDirectory.make(closed + "/fathom/compilers") == resolvedPath(closed + "/fathom/compilers"))
        var status = stat()
        #expect(stat(closed + "/fathom", &status) == 0 && status.st_mode & 0o777 == 0o700)
        // There, anybody could put another directory in its place.
        chmod(open, 0o777)
        #expect(throws: BuildError.notPrivate(resolvedPath(open)!)) { try CacheDirectory.make(open + "/fathom") }
        #expect(access(open + "/fathom", F_OK) != 0)
        // As in /tmp: what is ours there stays ours, but a directory for all is none of ours.
        chmod(open, 0o1777)
        #expect(throws: BuildError.notPrivate(resolvedPath(open)!)) { try CacheDirectory.make(open) }
        #expect(try CacheDirectory.make(open + "/fathom") == resolvedPath(open + "/fathom"))
        // A link is followed once, and what it leads to has to be ours.
        symlink(open, directory.file("link"))
        #expect(try CacheDirectory.make(directory.file("link") + "/fathom") == resolvedPath(open + "/fathom"))
        #expect(throws: BuildError.notPrivate(resolvedPath(open)!)) { try CacheDirectory.make(directory.file("link")) }
        chmod(open + "/fathom", 0o757)
        #expect(throws: BuildError.notPrivate(resolvedPath(open + "/fathom")!)) {
            try CacheDirectory.make(open + "/fathom/compilers")
        }
    }

    @Test(.enabled(if: Privilege.isRoot)) func directoriesOfOthers() throws {
        let stranger: uid_t = 65534, others = directory.file("others")
        for mode: mode_t in [0o755, 0o700] {
            mkdir(others, mode)
            chown(others, stranger, 0)
            #expect(throws: BuildError.notPrivate(resolvedPath(others)!)) { try CacheDirectory.make(others) }
            #expect(throws: BuildError.notPrivate(resolvedPath(others)!)) {
                try CacheDirectory.make(others + "/fathom")
            }
            rmdir(others)
        }
    }

    /// The path of what stands in for a frontend tells whose.
    @Test func frontends() throws {
        let toolchain = try SwiftToolchain(of: #require(Compiler.find("swift")))
        let home = directory.file("fathom")
        let programs = ["/opt/f/fathom", "/opt/g/fathom"]
        let paths = try programs.map { try StandIns.frontend(of: toolchain, program: $0, in: home) }
        #expect(paths[0] != paths[1])
        for (path, program) in zip(paths, programs) {
            #expect(StandIns.toolchain(behind: path)?.root == toolchain.root)
            #expect(try run("readlink", [path]).stdout == program + "\n")
        }
        #expect(try StandIns.frontend(of: toolchain, program: programs[0], in: home) == paths[0])
        #expect(StandIns.toolchain(behind: "fathom-swift-frontend") == nil)
    }
}
