import Glibc
import TestSupport
import Testing

/// What Tools/install and Tools/package make of the products.
@Suite struct InstallationTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("installation") }

    private func install(_ arguments: [String]) throws -> ProcessOutput {
        try run("\(Binaries.repository)/Tools/install", arguments, seconds: 600)
    }

    private func files(_ path: String) throws -> [String] {
        try run("find", [path, "-mindepth", "1", "-printf", "%P\n"]).stdout.split(separator: "\n").map(String.init)
    }

    /// It works where it is moved to, and goes without a trace.
    @Test func movedAndRemoved() throws {
        let prefix = directory.file("prefix")
        let installed = try install(["--prefix", prefix, "--products", Fathom.products])
        try #require(installed.status == 0, "\(installed.stderr)")
        let names = try files(prefix)
        for name in ["include/fathom.h", "share/man/man1/fathom-tree.1", "share/zsh/site-functions/_fathom"] {
            #expect(names.contains(name), "\(names)")
        }

        let place = directory.file("another place")
        #expect(try run("mv", [prefix, place]).status == 0)
        for compiler in ["gcc", "clang"] {
            let program = directory.file("fib-\(compiler)")
            let built = try run(
                compiler,
                [
                    "-static", "-pthread", "-finstrument-functions", "\(Binaries.sources)/fib.c", "-o", program,
                    "-L\(place)/lib/fathom", "@\(place)/lib/fathom/libfathom.static",
                ])
            #expect(built.status == 0, "\(built.stderr)")
            let session = directory.file("\(compiler).fathom")
            let recorded = try run("\(place)/bin/fathom", ["record", "--quiet", "-o", session, "--", program, "10"])
            #expect(recorded.status == 0 && recorded.stdout == "55\n", "\(recorded)")
            #expect(try Dump(session).counts()["fib"] == 177)
        }
        // What is preloaded is found, too.
        let session = directory.file("preloaded.fathom")
        let program = try Binaries.instrumented("fib.c", .gccO2)
        let recorded = try run("\(place)/bin/fathom", ["record", "--quiet", "-o", session, "--", program, "10"])
        #expect(recorded.stdout == "55\n" && recorded.stderr.isEmpty)
        #expect(try Dump(session).counts()["fib"] == 177)

        #expect(try install(["--prefix", place, "--uninstall"]).status == 0)
        #expect(access(place, F_OK) != 0, "the empty directory is left")
        let again = try install(["--prefix", place, "--uninstall"])
        #expect(again.status == 1 && again.stderr.contains("nothing of Fathom's is installed in \(place)"))
    }

    /// What others have put beside it stays.
    @Test func whatIsOfOthersStays() throws {
        let prefix = directory.file("prefix")
        #expect(try run("mkdir", ["-p", "\(prefix)/bin", "\(prefix)/lib"]).status == 0)
        _ = try directory.write("other", to: "prefix/bin/other")
        // A second installation replaces the first.
        for _ in 1...2 {
            #expect(try install(["--prefix", prefix, "--products", Fathom.products]).status == 0)
        }
        _ = try directory.write("theirs", to: "prefix/share/man/man1/other.1")
        #expect(try install(["--prefix", prefix, "--uninstall"]).status == 0)
        #expect(
            try Set(files(prefix)) == [
                "bin", "bin/other", "lib", "share", "share/man", "share/man/man1", "share/man/man1/other.1",
            ])
    }

    @Test func wrongUse() throws {
        let none = try install([])
        #expect(none.status == 64 && none.stderr.contains("Tools/install --prefix DIR"))
        let unknown = try install(["--prefix", directory.path, "--frob"])
        #expect(unknown.status == 64 && unknown.stderr.contains("--frob"))
        let empty = try install(["--prefix", directory.file("prefix"), "--products", directory.path])
        #expect(empty.status == 1 && empty.stderr.contains("holds no fathom"))
    }

    /// What makes packages and the lists of what is in them. The Debian package needs what every Debian has, and libdw, libelf, ncurses, zlib and Zstandard: no Swift.
    @Test(
        .enabled(if: ["dpkg-deb", "dpkg-shlibdeps", "aarch64-linux-gnu-gcc"].allSatisfy(Toolchain.isInstalled)))
    func packages() throws {
        _ = try directory.makeDirectory("site")
        _ = try directory.write("<p>The site.\n", to: "site/index.html")
        // Packing tightly would take a minute.
        let made = try run(
            "env",
            [
                "XZ_OPT=-1", "\(Binaries.repository)/Tools/package", "--products", Fathom.products,
                "--runtime", try CrossTests.products(), "--site", directory.file("site"), directory.file("packages"),
            ],
            seconds: 600)
        try #require(made.status == 0, "\(made.stderr)")
        let paths = made.stdout.split(separator: "\n").map(String.init)
        let names = paths.map { $0.split(separator: "/").last.map(String.init) ?? "" }
        let version = try #require(names.first?.split(separator: "-").dropFirst().first)
        try #require(
            names.map { $0.replacing("x86_64", with: "M").replacing("amd64", with: "M") } == [
                "fathom-\(version)-linux-M.spdx.json", "fathom-\(version)-linux-M.tar.xz", "fathom_\(version)_M.deb",
                "fathom-runtime-\(version)-linux-aarch64.tar.xz", "fathom-runtime_\(version)_arm64.deb",
                "fathom-\(version)-site.tar.gz", "SHA256SUMS",
            ])
        let sums = try run("sha256sum", ["--check", "SHA256SUMS"], workingDirectory: directory.file("packages"))
        #expect(sums.status == 0 && sums.stdout.split(separator: "\n").count == 6, "\(sums)")
        let site = try run("tar", ["-xzOf", paths[5], "fathom-\(version)-site/index.html"])
        #expect(site.stdout == "<p>The site.\n")
        try expectBill(paths[0])
        let runtime = try run("dpkg-deb", ["--contents", paths[4]]).stdout
        #expect(runtime.contains(" ./usr/lib/aarch64-linux-gnu/fathom/libfathom.so\n"))
        #expect(try run("dpkg-deb", ["--field", paths[4], "Depends"]).stdout.hasPrefix("libc6 (>= 2."))
        let depends = try run("dpkg-deb", ["--field", paths[2], "Depends"]).stdout
        let needed = try depends.split { ",\n".contains($0) }.map { String(try $0.split(separator: " ").at(0)) }
        #expect(
            Set(needed) == [
                "libc6", "libdw1", "libelf1", "libgcc-s1", "libmicrohttpd12", "libncursesw6", "libsqlite3-0",
                "libstdc++6", "libtinfo6",
                "libzstd1", "zlib1g",
            ], "\(depends)")
        let listing = try run("dpkg-deb", ["--contents", paths[2]]).stdout
        for name in [
            "/usr/bin/fathom", "/usr/lib/fathom/libfathom.so", "/usr/lib/fathom/libfathom.a", "/usr/include/fathom.h",
            "/usr/share/man/man1/fathom-record.1.gz", "/usr/share/doc/fathom/copyright",
            "/usr/share/bash-completion/completions/fathom", "/usr/share/zsh/vendor-completions/_fathom",
            "/usr/share/fish/vendor_completions.d/fathom.fish",
        ] { #expect(listing.contains(" .\(name)\n"), "\(name)") }
        // The tarball runs where it is unpacked.
        #expect(try run("tar", ["-C", directory.path, "-xJf", paths[1]]).status == 0)
        let unpacked = names[1].dropLast(".tar.xz".count)
        let doctor = try run("\(directory.path)/\(unpacked)/bin/fathom", ["doctor", "--format", "json"])
        #expect(doctor.status == 0 && doctor.stdout.hasPrefix(#"{"ok":true,"#), "\(doctor)")
    }

    /// The document of what is linked in is as SPDX demands, and tells what the notices tell.
    private func expectBill(_ path: String) throws {
        let read = try run(
            "\(Binaries.repository)/.build/consumers/checks/bin/pyspdxtools", ["--infile", path], seconds: 120)
        #expect(read.status == 0, "\(read)")
        let told = try run(
            "jq", ["-r", #".packages[] | select(.SPDXID | startswith("SPDXRef-Linked-")) | .name"#, path])
        let linked = Set(told.stdout.split(separator: "\n"))
        // Products that were built in the repository load ncurses and SQLite.
        #expect(linked.isSuperset(of: ["Swift", "swift-argument-parser", "libiberty"]) && !linked.contains("SQLite"))
        let notices = String(decoding: try readFile("\(Binaries.repository)/THIRD-PARTY-NOTICES.md"), as: UTF8.self)
        for name in linked { #expect(notices.contains("\n| \(name)"), "THIRD-PARTY-NOTICES.md lacks \(name)") }
        let loaded = try run(
            "jq", ["-r", #".packages[] | select(.SPDXID | startswith("SPDXRef-Loaded-")) | .name"#, path])
        #expect(
            Set(loaded.stdout.split(separator: "\n")).isSuperset(of: [
                "SQLite", "ncurses", "glibc", "libdw", "libmicrohttpd",
            ]))
        let version = try run(
            "jq", ["-r", #".packages[] | select(.name == "swift-argument-parser") | .versionInfo"#, path])
        let resolved = try run("jq", ["-r", ".pins[].state.version", "\(Binaries.repository)/Package.resolved"])
        #expect(version.stdout == resolved.stdout && !version.stdout.isEmpty)
    }
}
