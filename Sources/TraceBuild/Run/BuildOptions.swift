internal import Glibc

/// What `fathom build` asks of the compilers it stands before.
public struct BuildOptions: Sendable, Equatable {
    /// Hook only functions that are left after inlining (clang).
    public var afterInlining = false
    /// Sleds in place of hooks: they cost next to nothing until a recording opens them.
    public var dormant = false
    /// Keep frame pointers, for profilers that walk them.
    public var framePointers = false
    /// Link even with objects that were compiled without hooks.
    public var keepGoing = false
    /// Globs of functions without hooks, as the user or the linker knows them.
    public var excludedFunctions: [String] = []
    /// Globs of source files whose functions get no hooks.
    public var excludedFiles: [String] = []
    /// Give hooks to functions of system headers, too.
    public var systemHeaders = false
    /// Directories and files, absolute, outside which functions get no hooks; empty for all.
    public var only: [String] = []
    /// Swift: hook functions that call nothing as well, but none that only the compiler knows of. Nil where the toolchain
    /// decides (``SwiftToolchain/checksItself``).
    public var everyFunction: Bool?
    /// A directory that has an order of functions for each linker. Then nothing gets hooks, and what is linked is laid out
    /// in that order. Nil for none.
    public var order: String?
    /// A file that each compilation appends a line to; nil for none.
    public var log: String?

    public init() {}

    /// Whether some functions of an instrumented file are to be left out.
    var excludesFunctions: Bool { !excludedFunctions.isEmpty || !excludedFiles.isEmpty || !only.isEmpty }

    /// Whether an option is set that applies to functions of C and C++ alone.
    var choosesFunctions: Bool { excludesFunctions || afterInlining || systemHeaders }

    /// Whether functions defined in `file` get hooks.
    ///
    /// - Parameter file: relative to `directory` unless absolute.
    func covers(_ file: String, in directory: String) -> Bool {
        let path = absolutePath(file, in: directory)
        if excludedFiles.contains(where: { Glob.matches($0, path: file) || Glob.matches($0, path: path) }) {
            return false
        }
        return only.isEmpty || only.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
}

extension BuildOptions {
    /// `path`, absolute.
    ///
    /// - Throws: ``BuildError/cannotRead(_:errno:)`` when nothing is there.
    public static func existing(_ path: String) throws(BuildError) -> String {
        guard access(path, F_OK) == 0 else { throw .cannotRead(path, errno: errno) }
        return absolutePath(path, in: currentDirectory())
    }
}

// MARK: - What is built

extension BuildOptions {
    /// Tells `fathom build` what was built, if it runs the build.
    func note(_ entries: [BuildLog.Entry]) throws(BuildError) {
        if let log { try BuildLog(path: log).append(entries) }
    }
}

// MARK: - The environment

extension BuildOptions {
    /// The variable that carries the options to the compilers.
    public static let variable = "FATHOM_BUILD"

    /// The options as lines, each a word and its value. No value holds a new line, because `fathom build` refuses
    /// those.
    public var encoded: String {
        var lines: [String] = []
        if afterInlining { lines.append("after-inlining") }
        if dormant { lines.append("dormant") }
        if framePointers { lines.append("frame-pointers") }
        if keepGoing { lines.append("keep-going") }
        if let everyFunction { lines.append(everyFunction ? "every-function" : "no-every-function") }
        if systemHeaders { lines.append("system-headers") }
        lines += excludedFunctions.map { "exclude-function=\($0)" }
        lines += excludedFiles.map { "exclude-file=\($0)" }
        lines += only.map { "only=\($0)" }
        lines += [order].compactMap { $0 }.map { "order=\($0)" }
        lines += [log].compactMap { $0 }.map { "log=\($0)" }
        return lines.joined(separator: "\n")
    }

    /// Reads ``encoded``; words it does not know are passed over.
    public init(encoded: String) {
        for line in encoded.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            let value = parts.count > 1 ? String(parts[1]) : ""
            switch parts[0] {
            case "after-inlining": afterInlining = true
            case "dormant": dormant = true
            case "frame-pointers": framePointers = true
            case "keep-going": keepGoing = true
            case "every-function": everyFunction = true
            case "no-every-function": everyFunction = false
            case "system-headers": systemHeaders = true
            case "exclude-function": excludedFunctions.append(value)
            case "exclude-file": excludedFiles.append(value)
            case "only": only.append(value)
            case "order": order = value
            case "log": log = value
            default: break
            }
        }
    }
}
