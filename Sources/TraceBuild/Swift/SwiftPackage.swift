internal import Glibc

/// Where `swift build`, `swift run` or `swift test` finds its package, and where it puts what it makes.
public struct SwiftPackage {
    /// The directory that holds `Package.swift`, absolute.
    let root: String
    /// The directory that everything is built in, absolute.
    let scratch: String
    /// Whether it is the user who chose that.
    private let isGiven: Bool
    /// The directory of the programs.
    let products: String
    /// Where options may stand, behind the name of the command.
    private let firstOption: Int

    /// Below the directory that a package is built in without hooks. Each build would otherwise replace what the other made.
    public static let ownScratch = "fathom"

    /// - Parameters:
    ///   - name: what is called; a path will do.
    ///   - arguments: what it is called with.
    /// - Returns: Nil where that is not about building a package.
    init?(_ name: String, _ arguments: [String], in directory: String) {
        let tool = lastComponent(name)
        if tool.hasPrefix("swift-") {
            firstOption = 0
        } else if tool == "swift", let first = arguments.first, SwiftInvocation.building.contains(first) {
            firstOption = 1
        } else {
            return nil
        }
        let named = absolutePath(Self.value(of: ["--package-path"], arguments) ?? ".", in: directory)
        root = Self.root(from: named) ?? named
        let given = Self.value(of: ["--scratch-path", "--build-path"], arguments)
        isGiven = given != nil
        // The package manager's own variable for the same.
        let usual = environmentVariable("SWIFTPM_BUILD_DIR") ?? "\(root)/.build"
        scratch = absolutePath(given ?? "\(usual)/\(Self.ownScratch)", in: directory)
        let configuration = Self.value(of: ["-c", "--configuration"], arguments) ?? "debug"
        products = "\(scratch)/\(configuration)"
    }

    /// The arguments, with the directory for what has hooks unless they name another.
    func apart(_ arguments: [String]) -> [String] {
        isGiven ? arguments : arguments[..<firstOption] + ["--scratch-path", scratch] + arguments[firstOption...]
    }

    /// The innermost directory at or above `path` that holds a package.
    private static func root(from path: String) -> String? {
        var parts = path.split(separator: "/")
        while true {
            let directory = "/" + parts.joined(separator: "/")
            if access("\(directory)/Package.swift", F_OK) == 0 { return directory }
            if parts.popLast() == nil { return nil }
        }
    }

    /// What the last of some options was given, as `--name value` or `--name=value`.
    private static func value(of names: [String], _ arguments: [String]) -> String? {
        var value: String?
        for (index, argument) in arguments.enumerated() {
            if names.contains(argument), index + 1 < arguments.count { value = arguments[index + 1] }
            if let name = names.first(where: { argument.hasPrefix($0 + "=") }) {
                value = String(argument.dropFirst(name.count + 1))
            }
        }
        return value
    }
}
