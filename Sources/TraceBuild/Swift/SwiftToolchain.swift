internal import Glibc

/// Where the toolchain behind a `swift` or `swiftc` lies.
struct SwiftToolchain {
    /// Its `usr` directory.
    let root: String

    var frontend: String { root + "/bin/swift-frontend" }
    /// The directory with the resources of the compiler and of the programs that it makes.
    var libraries: String { root + "/lib" }

    /// - Parameter command: the path of its `swift` or `swiftc`.
    /// - Throws: ``BuildError/noToolchain(_:)``.
    init(of command: String) throws(BuildError) {
        if let toolchain = resolvedPath(command).flatMap(Self.init(holding:)) {
            self = toolchain
            return
        }
        // `command` may be no link into a toolchain, but a program that finds one. The compiler beside it knows.
        guard let toolchain = Self.resources(accordingTo: command).flatMap(Self.init(holding:)) else {
            throw .noToolchain(command)
        }
        self = toolchain
    }

    /// Whether the frontend has an option, which other versions may lack.
    func knows(_ option: String) -> Bool {
        let help = (try? Subprocess.output([frontend, "-frontend", "-help-hidden"])) ?? ""
        return help.split(separator: "\n").contains { $0.split(separator: " ").first == Substring(option) }
    }

    /// Whether the compiler was built with assertions, as Debian's is. Such a compiler stops at some of the intermediate form that
    /// it wrote itself.
    var checksItself: Bool {
        ((try? Subprocess.output([frontend, "-frontend", "--version"])) ?? "").contains("+assertions")
    }

    /// The directory in which, as the compiler beside `command` says, its resources are.
    private static func resources(accordingTo command: String) -> String? {
        let compiler = command.dropLast(lastComponent(command).count) + "swiftc"
        guard let answer = try? Subprocess.output([String(compiler), "-print-target-info"]) else { return nil }
        for text in answer.split(separator: "\n") {
            let fields = text.split(separator: "\"", omittingEmptySubsequences: false)
            if fields.count > 3, fields[1] == "runtimeResourcePath" { return String(fields[3]) }
        }
        return nil
    }

    /// - Returns: nil when there is none.
    init?(root: some StringProtocol) {
        self.root = String(root)
        guard access(frontend, X_OK) == 0, access(libraries + "/swift", R_OK) == 0 else { return nil }
    }

    /// - Parameter path: of something in `bin` or `lib`.
    private init?(holding path: String) {
        self.init(root: "/" + path.split(separator: "/").dropLast(2).joined(separator: "/"))
    }
}
