import Foundation
import PackagePlugin

/// `swift package fathom record …` builds a product of the package with hooks and records it; all other words are passed on to
/// `fathom`, which has to be installed.
///
/// What has hooks is built in a place of its own, so this may run while the package manager holds its own.
@main
struct FathomCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let directory = context.package.directoryURL
        guard let fathom = Self.fathom else {
            throw Problem("there is no fathom in PATH; install it, or let FATHOM_BIN name it")
        }
        guard arguments.first == "record" else { return try Self.run([fathom] + arguments, in: directory) }
        // Behind -- there is what the program gets.
        let split = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var own = ArgumentExtractor(Array(arguments[1..<split]))
        let configuration = own.extractOption(named: "configuration").last ?? "release"
        let product = try Self.product(own.extractOption(named: "product").last, of: context.package)
        let build = ["swift", "build", "-c", configuration, "--product", product, "--package-path", directory.path]
        try Self.run([fathom, "build", "--"] + build, in: directory)
        let program = "\(directory.path)/.build/fathom/\(configuration)/\(product)"
        try Self.run(
            [fathom, "record"] + own.remainingArguments + ["--", program] + arguments[split...].dropFirst(),
            in: directory)
    }

    /// The product to record: the one that is named, or the only program of the package.
    private static func product(_ name: String?, of package: Package) throws -> String {
        if let name { return name }
        let programs = package.products.compactMap { ($0 as? ExecutableProduct)?.name }.sorted()
        guard programs.count <= 1 else {
            throw Problem("name the program to record: --product \(programs.joined(separator: ", or "))")
        }
        guard let program = programs.first else { throw Problem("the package has no program that could be recorded") }
        return program
    }

    /// What FATHOM_BIN names, or the first of that name in PATH.
    private static var fathom: String? {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["FATHOM_BIN"] { return path }
        return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/fathom" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// Runs a command to its end, and ends as it does where it fails: it has said why.
    private static func run(_ command: [String], in directory: URL) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = directory
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit else { exit(128 + process.terminationStatus) }
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    private struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
