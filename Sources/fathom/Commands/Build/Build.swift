internal import ArgumentParser
internal import Glibc
internal import TraceBuild

/// `fathom build [options] -- COMMAND`
struct Build: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a build with hooks added to every function.",
        usage: "fathom build [<options>] -- <command> ...",
        discussion: """
            Works with make, CMake, Meson, autoconf, swift build, swift run, swift test and plain compiler calls: compilers \
            found in PATH by their usual names are called through Fathom. A tree that was configured without Fathom is \
            configured anew by --reconfigure; one that was compiled without is to be cleaned first. Swift packages are built \
            below .build/fathom. Of the options that choose functions, only --no-every-function is for Swift. The exit status is \
            the command's own, or 1 where nothing got hooks.
            """,
        examples: [
            ("fathom build -- make", "Builds as make does, with hooks in every function."),
            (
                "fathom build --order prog.order -- make -B",
                "Builds everything anew, without hooks, with functions in that order."
            ),
            (
                "fathom build --exclude-function 'leaf*' -- make -B",
                "Builds everything anew, without hooks in functions of these names."
            ),
        ])

    @Flag(help: "Hook only what is left after inlining: cheaper, less to see (clang).")
    var afterInlining = false

    @Flag(
        help: """
            Leave places for hooks in place of hooks: they cost next to nothing until the program is recorded (x86-64).
            """)
    var dormant = false

    @Option(
        help: ArgumentHelp(
            "Put no hooks in functions of this name. With gcc, in none whose name contains it.", valueName: "glob"))
    var excludeFunction: [String] = []

    @Option(help: ArgumentHelp("Leave out functions defined in this file.", valueName: "glob"))
    var excludeFile: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave out what a file lists: a line a function, NAMESPACE::* or file: GLOB; # begins a comment.",
            valueName: "file"), completion: .file())
    var excludeList: [String] = []

    @Option(
        help: ArgumentHelp("Hook only functions of this file or directory.", valueName: "path"), completion: .file())
    var only: [String] = []

    @Flag(help: "Hook functions of system headers, too: the C++ library's templates are most calls of many programs.")
    var systemHeaders = false

    @Flag(help: "Keep frame pointers, for profilers that need them.")
    var framePointers = false

    @Flag(help: "Link even with objects that were compiled without hooks.")
    var keepGoing = false

    @Option(
        help: ArgumentHelp(
            "Add no hooks: lay functions out as this file says, which fathom order has written, for any linker but mold.",
            valueName: "file"), completion: .file())
    var order: String?

    @Flag(
        help: """
            Configure a tree of CMake, Meson or autoconf anew, as it was configured without Fathom, and then build.
            """)
    var reconfigure = false

    @Flag(
        inversion: .prefixedNo,
        help: """
            For Swift: whether functions that call nothing get hooks, too, and those that the compiler made itself get none. That \
            is the default, except with a compiler that was built with assertions, which cannot do it.
            """)
    var everyFunction: Bool?

    @Argument(parsing: .captureForPassthrough, help: "The build command and its arguments.")
    var command: [String] = []

    func validate() throws {
        if let first = command.first, ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if command.first == "--" ? command.count < 2 : command.isEmpty {
            throw ValidationError("name the build command: fathom build -- make")
        }
        if let first = command.first, first != "--", first.hasPrefix("-") {
            throw ValidationError(
                UsageMessage.unknownOption(first, of: Build.self, advice: "; the build command comes after --"))
        }
        if (excludeFunction + excludeFile + only).contains(where: { $0.isEmpty || $0.contains("\n") }) {
            throw ValidationError("a name or path is empty or holds a new line")
        }
        if order != nil {
            let others: [(String, Bool)] = [
                ("--after-inlining", afterInlining), ("--exclude-function", !excludeFunction.isEmpty),
                ("--exclude-file", !excludeFile.isEmpty), ("--exclude-list", !excludeList.isEmpty),
                ("--only", !only.isEmpty), ("--system-headers", systemHeaders), ("--keep-going", keepGoing),
                ("--every-function", everyFunction != nil), ("--frame-pointers", framePointers),
            ]
            if let (name, _) = others.first(where: \.1) {
                throw ValidationError("\(name) is about hooks, and with --order there are none")
            }
        }
        let isSwift = CompilerName.isSwift(words[0].split(separator: "/").last.map(String.init) ?? "")
        let choosesFunctions = !(excludeFunction + excludeFile + excludeList + only).isEmpty
        if dormant, afterInlining || everyFunction != nil || systemHeaders {
            throw ValidationError(
                "--dormant takes all functions that are left after inlining: leave out --after-inlining, --every-function and --system-headers"
            )
        }
        #if !arch(x86_64)
            if dormant { throw ValidationError("--dormant is for x86-64, and this machine is another one") }
        #endif
        if isSwift, choosesFunctions || afterInlining || framePointers || systemHeaders {
            throw ValidationError(
                "of the options only --dormant, --every-function and --keep-going are for \(words[0])")
        }
    }

    private var words: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

    func run() throws {
        let lists: [ExcludeList]
        do throws(BuildError) {
            lists = try excludeList.map { (path) throws(BuildError) in try ExcludeList(path: path) }
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        let result: BuildResult
        let orders = try order.map { try OrderDirectory(of: $0) }
        defer { orders?.remove() }
        do throws(BuildError) {
            var options = BuildOptions()
            options.afterInlining = afterInlining
            options.dormant = dormant
            options.order = orders?.path
            options.framePointers = framePointers
            options.keepGoing = keepGoing
            options.systemHeaders = systemHeaders
            options.everyFunction = everyFunction
            options.excludedFunctions = excludeFunction
            options.excludedFiles = excludeFile
            for list in lists {
                options.excludedFunctions += list.functions
                options.excludedFiles += list.files
            }
            for path in only { options.only.append(try BuildOptions.existing(path)) }
            result = try BuildRun(
                command: words, options: options, program: Installation.executable, reconfigures: reconfigure
            ).run()
        } catch {
            throw Diagnostics.fail(error.description, .nothing)
        }
        orders?.remove()
        for line in result.lines { Diagnostics.say(line) }
        Glibc.exit(result.status)
    }
}
