internal import Glibc

/// Where the toolchain behind a `swift` or `swiftc` command lies.
struct SwiftToolchain {
    /// Its `usr` directory.
    private let root: String

    var frontend: String { root + "/bin/swift-frontend" }
    /// What the compiler needs at run time; the driver looks for it beside the frontend, unless told.
    var resources: String { root + "/lib/swift" }
    var staticResources: String { root + "/lib/swift_static" }

    /// - Throws: ``BuildError/noToolchain(_:)``.
    init(of command: String) throws(BuildError) {
        for path in Self.candidates(command) {
            guard let resolved = realpath(path, nil) else { continue }
            defer { free(resolved) }
            let directories = String(cString: resolved).split(separator: "/").dropLast(2)
            if let toolchain = Self(root: "/" + directories.joined(separator: "/")) {
                self = toolchain
                return
            }
        }
        // Not a link into the toolchain but a program that finds one.
        guard
            let toolchain = Self.resources(accordingTo: command).flatMap({ resources in
                Self(root: resources.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/" + $1 })
            })
        else { throw .noToolchain(command) }
        self = toolchain
    }

    /// What the compiler beside `command` says of where its resources are.
    private static func resources(accordingTo command: String) -> String? {
        let compiler = command.hasSuffix("swiftc") ? command : command + "c"
        guard let answer = try? Subprocess.output([compiler, "-print-target-info"]) else { return nil }
        for text in answer.split(separator: "\n") {
            let fields = text.split(separator: "\"", omittingEmptySubsequences: false)
            if fields.count > 3, fields[1] == "runtimeResourcePath" { return String(fields[3]) }
        }
        return nil
    }

    private init?(root: String) {
        self.root = root
        guard access(frontend, X_OK) == 0, access(resources, R_OK) == 0 else { return nil }
    }

    /// The command as execvp(3) finds it.
    private static func candidates(_ command: String) -> [String] {
        if command.contains("/") { return [command] }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(command)" }.filter { access($0, X_OK) == 0 }
    }
}
