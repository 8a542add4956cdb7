internal import Glibc
import Synchronization
import TestSupport
import Testing

/// What a function's calls add up to, times in ns; a total of -1 is not to be compared.
struct FunctionSums: Equatable {
    var calls = 0
    var total = 0
    var selfTime = 0
}

/// A recording that exports are made of, and what `fathom report` says of it.
struct ExportRecording: Sendable {
    enum Program: String, CaseIterable, Sendable { case lua, sqlite, jq, zstd, threads, names, tasks }

    struct Row: Sendable {
        var name: String
        var file: String
        var calls: Int
        var total: Int
        var selfTime: Int
    }

    static let built = "\(Binaries.repository)/.build"

    let program: Program
    let session: String
    let rows: [Row]

    /// The program's command line; it runs in ``directory``.
    static func command(_ program: Program) throws -> [String] {
        switch program {
        case .lua: ["./lua", "input.lua"]
        case .sqlite: ["./sqlite", "-batch", "-init", "/dev/null", ":memory:", ".read input.sql"]
        case .jq: ["./jq", "-c", "-n", "-f", "input.jq"]
        case .zstd: ["./zstd", "-q", "-T2", "-1", "-c", "input.txt"]
        case .threads:
            [
                try Binaries.instrumented(
                    "exports.cpp", .gccO0, libraries: ["\(Binaries.sources)/exports_other.cpp"], variant: "-two")
            ]
        case .names: [try Binaries.instrumented("names.cpp", .gccO0)]
        case .tasks:
            [
                try SwiftBuildKind.all[0].build(package: "\(repositoryPackages)/tasks", product: "tasks") + "/tasks",
                "100", "50",
            ]
        }
    }

    private static let repositoryPackages = "\(Binaries.repository)/Traces/packages"

    /// Where `Tools/setup --for-tests` puts the programs.
    static let directory = "\(built)/real-programs"

    private static let made = Mutex<[Program: ExportRecording]>([:])

    /// The recording of a program, made once a test run.
    static func of(_ program: Program) throws -> ExportRecording {
        try made.withLock { made in
            if let known = made[program] { return known }
            let recording = try ExportRecording(program)
            made[program] = recording
            return recording
        }
    }

    private init(_ program: Program) throws {
        self.program = program
        let command = try ExportRecording.command(program)
        let sessions = "\(Fathom.made)/ExportedSessions"
        mkdir(sessions, 0o755)
        session = "\(sessions)/\(program.rawValue).fathom"
        let recorded = try Fathom.run(
            ["record", "--force", "--quiet", "-o", session, "--"] + command,
            workingDirectory: ExportRecording.directory)
        try #require(recorded.status == 0, "is Tools/setup --for-tests through? \(recorded.stderr)")
        rows = try Self.rows(of: session)
        #expect(rows.count > 20)
        #expect(rows.reduce(0) { $0 + $1.calls } > 1000)
    }

    private static func rows(of session: String, _ options: [String] = []) throws -> [Row] {
        let report = try Fathom.run(["report", session, "--format", "csv"] + options)
        try #require(report.status == 0, "\(report.stderr)")
        return try report.stdout.split(separator: "\n").dropFirst().map { line in
            let fields = csvFields(line)
            let numbers = fields.dropFirst(4).map { Int($0) ?? -1 } + [-1, -1, -1]
            return Row(
                name: try fields.at(0), file: try fields.at(2), calls: numbers[0], total: numbers[1],
                selfTime: numbers[2])
        }
    }

    /// How often functions were called, by their full names.
    func callsByFullName() throws -> [String: Int] {
        try Dictionary(Self.rows(of: session, ["--raw-names"]).map { ($0.name, $0.calls) }, uniquingKeysWith: +)
    }

    /// Exports into a file and returns its path.
    func export(_ format: String, _ options: [String] = []) throws -> String {
        let file = "\(session)\(options.joined()).\(format)"
        let result = try Fathom.run(["export", session, "--format", format, "-o", file] + options)
        #expect(result.status == 0, "\(result.stderr)")
        return file
    }

    /// The report's sums by `key`. Functions that it does not tell apart are one, and may contain each other: the sum of
    /// their totals is then no total of theirs, and -1.
    func sums(by key: (Row) -> String = { $0.name }) -> [String: FunctionSums] {
        var result: [String: FunctionSums] = [:]
        for row in rows {
            let key = key(row)
            if let known = result[key] {
                result[key] = FunctionSums(
                    calls: known.calls + row.calls, total: -1, selfTime: known.selfTime + row.selfTime)
            } else {
                result[key] = FunctionSums(calls: row.calls, total: row.total, selfTime: row.selfTime)
            }
        }
        return result
    }
}

/// The fields of a line of CSV.
func csvFields(_ line: Substring) -> [String] {
    var fields = [""]
    var isQuoted = false
    var before: Character = ","
    for character in line {
        defer { before = character }
        switch character {
        case "\"":
            // A quote that follows the one that seemed to end the field is part of it.
            if !isQuoted, before == "\"" { fields[fields.count - 1].append(character) }
            isQuoted.toggle()
        case "," where !isQuoted: fields.append("")
        default: fields[fields.count - 1].append(character)
        }
    }
    return fields
}
