internal import Glibc

/// Stands before `swiftc` and `swift`: what they build calls the runtime's hooks.
///
/// Our own frontend stands before the compiler's and marks the functions to hook, see ``SwiftIR``. Without
/// ``BuildOptions/everyFunction``, the compiler is asked for the function hooks of its thread sanitizer, without the sanitizer. A
/// small object that is linked into each product answers either of them (`Sources/CTraceSwiftHooks`).
public struct SwiftBuild {
    /// Where the parts that go into a build lie.
    public struct Tools: Sendable {
        /// Fathom's executable.
        public var program: String
        /// `libfathom-swift.o`.
        public var hooks: String
        /// `libfathom.static`: options for gcc that link the runtime, which lies beside it, into a program that
        /// loads nothing.
        public var staticRuntime: String
        /// What products with sleds get: `libfathom-sleds.o`.
        public var sleds: String

        public init(program: String, hooks: String, staticRuntime: String, sleds: String = "") {
            self.sleds = sleds
            self.program = program
            self.hooks = hooks
            self.staticRuntime = staticRuntime
        }
    }

    private let options: BuildOptions
    private let tools: Tools

    public init(_ options: BuildOptions, tools: Tools) {
        self.options = options
        self.tools = tools
    }

    /// Compiles, links or builds a package. Returns only when that fails.
    ///
    /// - Parameters:
    ///   - name: what was called: `swiftc`, a path of `swift`.
    ///   - arguments: what it was called with.
    public func run(_ name: String, _ arguments: [String]) throws(BuildError) -> Never {
        guard let path = Compiler.find(name) else { throw .noCompiler(name) }
        StandIns.leave()
        let invocation = SwiftInvocation(path, arguments)
        let directory = currentDirectory()
        let package = SwiftPackage(path, arguments, in: directory)
        guard invocation.stage != .nothing else {
            throw Subprocess.become([path] + (package?.apart(arguments) ?? arguments))
        }
        if let order = options.order {
            try note(invocation, package, directory)
            throw Subprocess.become(command([path] + arguments, laidOutBy: OrderFlags(directory: order)))
        }
        if invocation.stage == .link {
            _ = try LinkInputs(invocation.objects, of: invocation.output ?? "the program", options)
        }
        let toolchain = try SwiftToolchain(of: path)
        let frontend = try StandIns.frontend(
            of: toolchain, program: tools.program,
            name: options.dormant ? Self.sledFrontendName : Self.frontendName)
        let words = try instrument(
            [path] + (package?.apart(arguments) ?? arguments), toolchain, frontend: frontend)
        try note(invocation, package, directory)
        throw Subprocess.become(words)
    }

    private func note(
        _ invocation: SwiftInvocation, _ package: SwiftPackage?, _ directory: String
    ) throws(BuildError) {
        try options.note(
            package.map { [.package($0.root), .products($0.products)] }
                ?? invocation.sources.map { name in
                    let source = absolutePath(name, in: directory)
                    let isProbe = ConfigureProbe.isOne(source: source, in: directory, output: directory)
                    return isProbe ? .probe(source) : .swift(source)
                })
    }

    /// `command` with what lays functions out, by LLVM's linker, which the toolchain has.
    func command(_ command: [String], laidOutBy order: OrderFlags) -> [String] {
        let sections = ["-Xfrontend", "-function-sections"], linker = "-use-ld=lld"
        let words = order.words(.lld).flatMap { ["-Xlinker", $0] }
        let arguments = command.dropFirst()
        if lastComponent(command[0]) == "swiftc" { return [command[0]] + sections + [linker] + words + arguments }
        let flags = (sections + [linker]).flatMap { ["-Xswiftc", $0] } + ["-Xcc", OrderFlags.sections] + words
        let subcommand = lastComponent(command[0]) == "swift" ? arguments.prefix(1) : []
        return [command[0]] + subcommand + flags + arguments.dropFirst(subcommand.count)
    }

    /// What to run in place of `command`, whose first word is the path of a `swift` or `swiftc` that compiles.
    ///
    /// - Parameter frontend: the stand-in for the toolchain's frontend.
    func instrument(
        _ command: [String], _ toolchain: SwiftToolchain, frontend: String
    ) throws(BuildError) -> [String] {
        let arguments = command.dropFirst()
        if Self.usesThreadSanitizer(arguments) { throw .threadSanitizer }
        var linked = ["-Xlinker", tools.hooks]
        if options.dormant { linked += ["-Xlinker", tools.sleds] }
        if arguments.contains(Self.staticExecutable) { linked += try staticRuntime() }
        let isCompiler = lastComponent(command[0]) == "swiftc"
        let hooks = hookFlags(toolchain)
        // Our frontend also keeps C's hooks out of the Swift modules of packages.
        let usesFrontend = !hooks.contains(Self.sanitizerHooks) || !isCompiler
        let compiler = hooks + (usesFrontend ? ["-driver-use-frontend-path", frontend] : [])
        if isCompiler { return [command[0]] + compiler + linked + arguments }
        // SwiftPM builds C targets too, and passes what is meant for those to the Swift compiler as well.
        let flags =
            compiler.flatMap { ["-Xswiftc", $0] }
            + (options.dormant ? HookFlags.sleds : [HookFlags.everyFunction]).flatMap { ["-Xcc", $0] } + linked
        let subcommand = lastComponent(command[0]) == "swift" ? arguments.prefix(1) : []
        return [command[0]] + subcommand + flags + arguments.dropFirst(subcommand.count)
    }

    private func hookFlags(_ toolchain: SwiftToolchain) -> [String] {
        let merging = toolchain.knows(Self.withoutLLVMMerging) ? ["-Xfrontend", Self.withoutLLVMMerging] : []
        if options.dormant || options.everyFunction ?? !toolchain.checksItself { return merging }
        let accesses = ["memory-accesses", "atomics", "memintrinsics"]
        return ["-Xfrontend", Self.sanitizerHooks] + merging + Self.withoutMerging
            + accesses.flatMap { ["-Xllvm", "-tsan-instrument-\($0)=0"] }
    }

    /// The runtime for a program that loads no library, as the linker takes it.
    private func staticRuntime() throws(BuildError) -> [String] {
        let directory = directoryPart(tools.staticRuntime)
        let words = ["-L\(directory)"] + ResponseFile.words(try TextFile.read(tools.staticRuntime))
        return words.flatMap { ["-Xlinker", $0.hasPrefix("-Wl,") ? String($0.dropFirst(4)) : $0] }
    }

    static let sanitizerHooks = "-sanitize=thread"
    private static let staticExecutable = "-static-executable"

    /// Keeps the optimiser from merging several functions into one, which would be recorded under the name of one of
    /// them.
    static let withoutMerging = ["-Xllvm", "-swiftmergefunc-threshold=0"]
    static let withoutLLVMMerging = "-disable-llvm-merge-functions-pass"

    /// The name by which `fathom` stands in for the compiler's frontend.
    public static let frontendName = "fathom-swift-frontend"
    /// The same, for functions that get sleds.
    public static let sledFrontendName = "fathom-swift-frontend-dormant"

    /// `-sanitize=thread`, `-sanitize=undefined,thread` or `--sanitize thread`.
    private static func usesThreadSanitizer(_ arguments: ArraySlice<String>) -> Bool {
        if zip(arguments, arguments.dropFirst()).contains(where: { $0 == ("--sanitize", "thread") }) { return true }
        return arguments.contains { argument in
            ["-sanitize=", "--sanitize="].contains { prefix in
                argument.hasPrefix(prefix) && argument.dropFirst(prefix.count).split(separator: ",").contains("thread")
            }
        }
    }
}
