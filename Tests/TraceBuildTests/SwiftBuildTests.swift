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
            frontend: "/opt/f/fathom-swift-frontend", hooks: "/opt/f/libfathom-swift.o",
            staticRuntime: try directory.write("\"/opt/f/libfathom.a\"\n-Wl,--wrap=longjmp\n", to: "libfathom.static"))
        swift = try #require(Compiler.find("swift"))
        swiftc = try #require(Compiler.find("swiftc"))
    }

    private var everyFunction: BuildOptions {
        var options = BuildOptions()
        options.everyFunction = true
        return options
    }

    @Test func flagsComeBeforeThePackagesOwn() throws {
        let build = try SwiftBuild(BuildOptions(), tools: tools).instrument([swift, "build", "-c", "release"])
        #expect(build.words.prefix(2) == [swift, "build"] && build.words.suffix(2) == ["-c", "release"])
        #expect(build.words.contains(tools.hooks))
        // What is hooked as C is not to be hooked as Swift again: our frontend sees to it.
        #expect(build.words.contains(tools.frontend))
        #expect(build.environment[SwiftFrontend.frontendVariable]?.hasSuffix("/bin/swift-frontend") == true)
    }

    @Test func compilerAlone() throws {
        let build = try SwiftBuild(BuildOptions(), tools: tools).instrument([swiftc, "-O", "a.swift"])
        #expect(build.words.suffix(2) == ["-O", "a.swift"] && !build.words.contains("-Xswiftc"))
        let every = try SwiftBuild(everyFunction, tools: tools).instrument([swiftc, "-static-stdlib", "a.swift"])
        #expect(every.words.contains(tools.frontend) && !every.words.contains(tools.hooks))
        #expect(every.words.contains { $0.hasSuffix("/lib/swift_static") })
        let mixed = try SwiftBuild(everyFunction, tools: tools).instrument(
            [swiftc, "a.swift", "b.o"], linksHooks: true)
        #expect(mixed.words.contains(tools.hooks))
    }

    /// What loads no library gets the runtime at the link.
    @Test func staticExecutable() throws {
        for command in [
            [swiftc, "-static-executable", "a.swift"], [swift, "build", "-Xswiftc", "-static-executable"],
        ] {
            let words = try SwiftBuild(BuildOptions(), tools: tools).instrument(command).words
            let linked = ["-Xlinker", "/opt/f/libfathom.a", "-Xlinker", "--wrap=longjmp"]
            #expect(words.firstRange(of: linked) != nil, "\(words)")
        }
    }

    @Test func whatCannotBeTraced() {
        let build = SwiftBuild(BuildOptions(), tools: tools)
        for options in [["--sanitize", "thread"], ["--sanitize=thread"], ["-Xswiftc", "-sanitize=undefined,thread"]] {
            #expect(throws: BuildError.threadSanitizer) { try build.instrument([swift, "build"] + options) }
        }
        #expect(throws: Never.self) { try build.instrument([swift, "run", "thread"]) }
        #expect(throws: BuildError.noToolchain("/none/swiftc")) { try build.instrument(["/none/swiftc", "a.swift"]) }
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
