import Glibc
import TestSupport
import Testing

@testable import TraceBuild

/// What becomes of calls of `swift` and `swiftc`.
@Suite struct SwiftBuildTests {
    private let directory: TemporaryDirectory
    private let tools: SwiftBuild.Tools
    private let swift: String
    private let swiftc: String

    init() throws {
        directory = try TemporaryDirectory()
        tools = SwiftBuild.Tools(
            program: "/opt/f/fathom", hooks: "/opt/f/libfathom-swift.o",
            staticRuntime: try directory.write("-l:libfathom.a\n-Wl,--wrap=longjmp\n", to: "libfathom.static"))
        swift = try #require(Compiler.find("swift"))
        swiftc = try #require(Compiler.find("swiftc"))
    }

    private let frontend = "/opt/f/fathom-swift-frontend"

    private func words(_ command: [String], everyFunction: Bool? = nil) throws -> [String] {
        var options = BuildOptions()
        options.everyFunction = everyFunction
        let toolchain = try SwiftToolchain(of: command[0])
        return try SwiftBuild(options, tools: tools)
            .instrument(command, toolchain, frontend: frontend)
    }

    @Test func flagsComeBeforeThePackagesOwn() throws {
        let build = try words([swift, "build", "-c", "release"])
        #expect(build.prefix(2) == [swift, "build"] && build.suffix(2) == ["-c", "release"])
        #expect(build.contains(tools.hooks))
        // What is hooked as C is not to be hooked as Swift again: our frontend sees to it.
        #expect(build.contains(frontend))
    }

    /// Where a package is built with hooks, and where the user wants it.
    @Test(arguments: [
        (["build"], ".build/fathom/debug"), (["build", "-c", "release"], ".build/fathom/release"),
        (["test", "--scratch-path", "x", "--configuration=release"], "x/release"),
        (["run", "--build-path=/y", "app"], "/y/debug"), (["build", "--package-path", "in/.."], ".build/fathom/debug"),
    ])
    func places(arguments: [String], products: String) throws {
        try directory.write("", to: "Package.swift")
        mkdir(directory.file("in"), 0o755)
        for place in [directory.path, directory.file("in")]
        where place == directory.path || !arguments.contains("in/..") {
            let package = try #require(SwiftPackage("/usr/bin/swift", arguments, in: place))
            #expect(package.root == directory.path)
            let base = products.hasPrefix("x") ? place : directory.path
            #expect(package.products == absolutePath(products, in: base))
            let words = package.apart(arguments)
            if arguments.contains(where: { $0.hasPrefix("--scratch-path") || $0.hasPrefix("--build-path") }) {
                #expect(words == arguments)
            } else {
                #expect(words == [arguments[0], "--scratch-path", package.scratch] + arguments.dropFirst())
            }
        }
        #expect(SwiftPackage("swift", ["package", "clean"], in: "/") == nil)
        #expect(SwiftPackage("swiftc", ["a.swift"], in: "/") == nil)
    }

    @Test func compilerAlone() throws {
        let build = try words([swiftc, "-O", "a.swift"])
        #expect(build.suffix(2) == ["-O", "a.swift"] && !build.contains("-Xswiftc"))
        let every = try words([swiftc, "-static-stdlib", "a.swift"], everyFunction: true)
        #expect(every.contains(frontend) && every.contains(tools.hooks))
        // Which libraries to link, the driver finds out: a package may say so itself.
        #expect(!every.contains("-resource-dir"))
    }

    /// What loads no library gets the runtime at the link.
    @Test func staticExecutable() throws {
        for command in [
            [swiftc, "-static-executable", "a.swift"], [swift, "build", "-Xswiftc", "-static-executable"],
        ] {
            let words = try words(command)
            let linked = [
                "-Xlinker", "-L\(directory.path)/", "-Xlinker", "-l:libfathom.a", "-Xlinker", "--wrap=longjmp",
            ]
            #expect(words.firstRange(of: linked) != nil, "\(words)")
        }
    }

    @Test func whatCannotBeTraced() {
        for options in [["--sanitize", "thread"], ["--sanitize=thread"], ["-Xswiftc", "-sanitize=undefined,thread"]] {
            #expect(throws: BuildError.threadSanitizer) { try words([swift, "build"] + options) }
        }
        #expect(throws: Never.self) { try words([swift, "run", "thread"]) }
        #expect(throws: BuildError.noToolchain("/none/swiftc")) { try words(["/none/swiftc", "a.swift"]) }
        #expect(SwiftInvocation.buildsNothing(["/usr/bin/swift", "package", "clean"]) == "/usr/bin/swift package")
        #expect(SwiftInvocation.buildsNothing(["swift", "build"]) == nil)
        #expect(SwiftInvocation.buildsNothing(["make", "clean"]) == nil)
    }

    @Test(arguments: [
        ("swiftc a.swift", SwiftInvocation.Stage.link), ("swiftc -c a.swift -o a.o", .object),
        ("swiftc -emit-library -emit-module a.swift", .link), ("swiftc -emit-module a.swift", .nothing),
        ("swiftc -emit-module -c a.swift", .object), ("swiftc a.o b.a -o app", .link),
        ("swiftc -typecheck a.swift", .nothing),
        ("swiftc -print-target-info", .nothing), ("swiftc -frontend -c a.swift", .nothing),
        ("swiftc --version", .nothing),
        ("swiftc -Xlinker a.o --help", .nothing), ("swift build", .package), ("swift a.swift", .nothing),
        ("swift package clean", .nothing), ("swift --version", .nothing), ("swift build --show-bin-path", .nothing),
        ("swift run app --help", .package), ("swift run --help", .nothing), ("swift-test --parallel", .package),
    ])
    func stages(_ line: String, _ stage: SwiftInvocation.Stage) {
        let words = line.split(separator: " ").map(String.init)
        #expect(SwiftInvocation(words[0], Array(words.dropFirst())).stage == stage)
    }

    @Test func files() {
        let line = "-O -o app main.swift -Xlinker hooks.o -import-objc-header a.h util.swift x.o -lm lib.a -Xcc -O1"
        let invocation = SwiftInvocation("/usr/bin/swiftc", line.split(separator: " ").map(String.init))
        #expect(invocation.sources == ["main.swift", "util.swift"])
        #expect(invocation.objects == ["x.o", "lib.a"])
        #expect(invocation.output == "app")
    }
}
