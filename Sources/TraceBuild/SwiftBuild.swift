internal import Glibc

/// A command that builds Swift code, changed so that what it builds calls the runtime's hooks.
///
/// The compiler is asked for the function hooks of its thread sanitizer without the sanitizer; they come to a small object
/// that is linked into each product (`Sources/TraceSwiftHooks`). With ``Options/everyFunction`` our own frontend stands
/// before the compiler's and marks the functions to hook itself, see ``SwiftIR``.
public struct SwiftBuild {
    public struct Options: Sendable {
        /// Hook functions that call nothing, too, and leave out what only the compiler knows of.
        public var everyFunction = false

        public init() {}
    }

    /// Where the parts that go into a build lie.
    public struct Tools: Sendable {
        /// `fathom` by the name ``SwiftBuild/frontendName``.
        public var frontend: String
        /// `libfathom-swift.o`.
        public var hooks: String

        public init(frontend: String, hooks: String) {
            self.frontend = frontend
            self.hooks = hooks
        }
    }

    /// Whether `command` is one of Swift's that build.
    public static func builds(_ command: String) -> Bool {
        ["swift", "swiftc"].contains(lastComponent(command))
    }

    private let options: Options
    private let tools: Tools

    public init(_ options: Options, tools: Tools) {
        self.options = options
        self.tools = tools
    }

    /// A command and what it finds in its environment besides.
    public struct Invocation: Sendable, Equatable {
        public var words: [String]
        public var environment: [String: String] = [:]
    }

    /// Runs what ``instrument(_:)`` makes of `command`.
    ///
    /// - Returns: its exit status.
    /// - Throws: ``BuildError``.
    public func run(_ command: [String]) throws(BuildError) -> Int32 {
        let invocation = try instrument(command)
        for (name, value) in invocation.environment { setenv(name, value, 1) }
        return try Subprocess.run(invocation.words)
    }

    /// What to run in place of `command`, whose first word is `swift` or `swiftc`.
    ///
    /// - Throws: ``BuildError``.
    public func instrument(_ command: [String]) throws(BuildError) -> Invocation {
        let arguments = command.dropFirst()
        if arguments.contains(where: Self.usesThreadSanitizer) { throw .threadSanitizer }
        let linked = ["-Xlinker", tools.hooks]
        let toolchain = try SwiftToolchain(of: command[0])
        let frontend = frontendFlags(command, toolchain)
        let environment = [SwiftFrontend.frontendVariable: toolchain.frontend]
        guard command[0].hasSuffix("swift") else {
            guard options.everyFunction else { return Invocation(words: [command[0]] + hookFlags + linked + arguments) }
            return Invocation(words: [command[0]] + frontend + linked + arguments, environment: environment)
        }
        guard let subcommand = arguments.first, ["build", "run", "test"].contains(subcommand) else {
            throw .buildsNothing(command.prefix(2).joined(separator: " "))
        }
        // SwiftPM builds C targets too, and passes what is meant for those to the Swift compiler as well.
        let flags = (hookFlags + frontend).flatMap { ["-Xswiftc", $0] } + ["-Xcc", Self.hooksOfC] + linked
        return Invocation(words: [command[0], subcommand] + flags + arguments.dropFirst(), environment: environment)
    }

    private var hookFlags: [String] {
        if options.everyFunction { return [] }
        let accesses = ["memory-accesses", "atomics", "memintrinsics"]
        return ["-Xfrontend", Self.sanitizerHooks] + Self.withoutMerging
            + accesses.flatMap { ["-Xllvm", "-tsan-instrument-\($0)=0"] }
    }

    private func frontendFlags(_ command: [String], _ toolchain: SwiftToolchain) -> [String] {
        let isStatic = command.contains { Self.staticOptions.contains($0) }
        return [
            "-driver-use-frontend-path", tools.frontend,
            "-resource-dir", isStatic ? toolchain.staticResources : toolchain.resources,
        ]
    }

    static let sanitizerHooks = "-sanitize=thread"
    static let hooksOfC = "-finstrument-functions"
    private static let staticOptions = ["-static-stdlib", "--static-swift-stdlib", "-static-executable"]

    /// The optimiser must not make one function of several, which would then be known by one's name.
    static let withoutMerging = ["-Xllvm", "-swiftmergefunc-threshold=0"]

    /// The name by which `fathom` stands in for the compiler's frontend.
    public static let frontendName = "fathom-swift-frontend"

    private static func usesThreadSanitizer(_ argument: String) -> Bool {
        argument == "-sanitize=thread" || argument == "--sanitize=thread" || argument == "thread"
    }
}
