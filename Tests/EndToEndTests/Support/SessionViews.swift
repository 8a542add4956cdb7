import TestSupport
import Testing

/// What commands show of a session, so that it can be compared between places and moments.
struct SessionViews {
    /// Standard output, complaints and the exit status, or the sum of the file that was written, by command.
    private var shown: [(command: String, text: String)] = []

    /// How a session is looked at.
    static let commands: [[String]] = [
        ["tree"], ["tree", "--lines", "--call-sites", "--no-fold"], ["tree", "--raw-names", "--lines"],
        ["tree", "--call-sites", "--sort", "time", "--limit", "9"], ["report"],
        ["report", "--raw", "--format", "csv", "--sort", "location"], ["report", "--by", "file"],
        ["report", "--raw-names", "--by", "module"], ["graph"], ["flame", "-o", "-"], ["waits"],
        ["waits", "--format", "json"], ["info"], ["dump"],
    ]

    /// How a start is looked at, whose recording asked for that.
    static let startCommands = [["startup"], ["startup", "--format", "json"]]

    /// What `fathom export` writes, as its help lists it.
    static func formats() throws -> [String] {
        let help = try Fathom.run(["export", "--help"]).stdout.split { $0 == " " || $0 == "\n" }
        let start = try #require(help.firstIndex(of: "(values:"))
        let formats = help[(start + 1)...].prefix { !$0.hasSuffix(")") }.map { String($0.dropLast()) }
        #expect(formats.contains("perfetto") && formats.contains("otlp") && formats.count > 10)
        return formats
    }

    /// Looks at the session `name` in `directory` in every way. What commands keep beside it is removed before each.
    ///
    /// - Parameters:
    ///   - fathom: the words that run fathom; they find the session at the same path.
    ///   - more: further ways, with arguments that only this session knows.
    init(_ name: String, in directory: String, fathom: [String] = [Fathom.executable], more: [[String]] = []) throws {
        for view in Self.commands + more {
            let output = try Self.run(fathom + [view[0], name] + view.dropFirst(), name, in: directory)
            shown.append((view.joined(separator: " "), "\(output.status)\n\(output.stderr)\(output.stdout)"))
        }
        for format in try Self.formats() {
            let output = try Self.run(
                fathom + ["export", name, "--format", format, "-o", "x.\(format)"], name, in: directory)
            // The fleet's tables are a directory.
            let sums = try TestSupport.run(
                "sh",
                [
                    "-c", "cd \"$1\" && find x.* -type f | sort | xargs -r sha256sum; rm -rf x.*", "sh", directory,
                ])
            let sum = sums.stdout
            shown.append(("export --format \(format)", "\(output.status)\n\(output.stderr)\(sum)"))
        }
    }

    private static func run(_ command: [String], _ name: String, in directory: String) throws -> ProcessOutput {
        _ = try TestSupport.run("rm", ["-f", "\(directory)/\(name)/aggregate"])
        return try TestSupport.run(command[0], Array(command[1...]), workingDirectory: directory)
    }

    /// All of it that people read.
    var text: String { shown.map(\.text).joined(separator: "\n") }

    /// How many commands showed something.
    var count: Int { shown.count { $0.text.hasPrefix("0\n") } }

    /// The first line of each command's that is another there.
    func differences(from other: SessionViews) -> [String] {
        zip(shown, other.shown).compactMap { here, there in
            if here.text == there.text { return nil }
            let lines = here.text.split(separator: "\n", omittingEmptySubsequences: false),
                others = there.text.split(separator: "\n", omittingEmptySubsequences: false)
            let place = zip(lines, others).enumerated().first { $1.0 != $1.1 }?.offset ?? min(lines.count, others.count)
            func line(_ lines: [Substring]) -> Substring { lines.dropFirst(place).first?.prefix(300) ?? "(nothing)" }
            return "\(here.command), line \(place + 1): \(line(lines))\n    there: \(line(others))"
        }
    }
}
