internal import Foundation
internal import Glibc
import TestSupport
import Testing

/// The command line under test.
enum Fathom {
    /// Where the test bundle lies, and with it everything `swift build` made.
    static let testProducts: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(readlink("/proc/self/exe", &path, path.count), 0)
        let executable = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)])
    }()

    /// Where tests make what several of them read: a directory of its own for each process that runs a part of the tests, which
    /// FATHOM_TEST_PART names.
    static let made: String = {
        let path = "\(testProducts)/made" + (getenv("FATHOM_TEST_PART").map { "-" + String(cString: $0) } ?? "")
        mkdir(path, 0o755)
        return path
    }()

    /// An empty directory for what several tests read and none changes. It stays, for the next test run to empty it.
    static func sharedDirectory(_ name: String) throws -> String {
        let path = "\(made)/\(name)"
        try TestSupport.run("rm", ["-rf", path])
        try TestSupport.run("mkdir", ["-p", path])
        return path
    }

    /// FATHOM_BIN, or the `fathom` beside the test bundle.
    static let executable = getenv("FATHOM_BIN").map { String(cString: $0) } ?? "\(testProducts)/fathom"

    /// The directory of `fathom` and the runtime libraries.
    static let products = String(executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)])

    /// What links the runtime into a static program.
    static let staticRuntime = ["-L\(products)", "@\(products)/libfathom.static"]

    /// Runs `fathom` with these arguments. The build of a whole program takes minutes on a busy machine.
    ///
    /// - Parameter isUrgent: whether it goes before others, as ``Privilege/urgent(_:)`` says.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], workingDirectory: String? = nil,
        isUrgent: Bool = false
    ) throws(TestSupportError) -> ProcessOutput {
        let command = isUrgent ? Privilege.urgent([executable] + arguments) : [executable] + arguments
        return try TestSupport.run(
            command[0], Array(command[1...]), environment: inherited(adding: environment),
            workingDirectory: workingDirectory, seconds: arguments.first == "build" ? 900 : 300)
    }

    /// Records `command` into the session directory `session`.
    static func record(
        _ command: [String], into session: String, options: [String] = ["--quiet"],
        environment: [String: String] = [:], isUrgent: Bool = false
    ) throws(TestSupportError) -> ProcessOutput {
        try run(
            ["record", "-o", session] + options + ["--"] + command, environment: environment, isUrgent: isUrgent)
    }

    /// How many calls each function of a recording has, by its name; functions of one name together.
    ///
    /// - Parameter options: of `report`.
    static func calls(in session: String, _ options: [String] = []) throws -> [String: Int] {
        let report = try run(["report", "--format", "json", "--limit", "0", session] + options)
        #expect(report.status == 0, "\(report.stderr)")
        let json = try #require(JSONSerialization.jsonObject(with: Data(report.stdout.utf8)) as? [String: Any])
        let rows = try #require(json.values.compactMap { $0 as? [[String: Any]] }.first)
        return Dictionary(
            rows.map { ($0["name"] as? String ?? "?", $0["calls"] as? Int ?? 0) }, uniquingKeysWith: +)
    }

    /// Expects a recording in which nothing is damaged.
    static func isWhole(_ session: String) throws {
        let check = try run(["info", "--check", session])
        #expect(check.status == 0, "\(check.stdout)")
    }

    /// Calls that the summary says were left out: the sum of its lines "fathom: warning: 7,678 calls not ...".
    static func missingCalls(_ summary: String) -> Int {
        summary.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count > 3, words[1] == "warning:", words[3] == "calls" else { return sum }
            return sum + (Int(words[2].filter { $0 != "," }) ?? 0)
        }
    }

    /// The commands, or those that a command consists of, as `--help` lists them.
    static func commands(of command: String? = nil) throws -> [String] {
        let help = try run((command.map { [$0] } ?? []) + ["--help"]).stdout
        let list = try #require(help.split(separator: "SUBCOMMANDS:\n").last)
        // Behind an empty line it says where to find more.
        let lines = list.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
        let names = lines.compactMap { line -> String? in
            guard line.hasPrefix("  "), !line.hasPrefix("   ") else { return nil }
            return line.split(separator: " ").first.map(String.init)
        }
        #expect(command != nil || names.count > 20 && names.contains("tree") && names.contains("waits"))
        return names
    }

    /// This process's environment with some variables set.
    static func inherited(adding: [String: String]) -> [String: String] {
        var environment: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee.map({ String(cString: $0) }) {
            let equals = text.firstIndex(of: "=") ?? text.endIndex
            environment[String(text[..<equals])] = String(text[equals...].dropFirst())
            entry += 1
        }
        return environment.merging(adding) { $1 }
    }
}
