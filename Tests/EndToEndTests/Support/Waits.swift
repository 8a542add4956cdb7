internal import Foundation
import TestSupport
import Testing

/// A recording with waits, and what its program measured itself.
struct RecordedWaits {
    /// How the kernel is asked.
    enum Way: String, CaseIterable { case switches, withoutPerf }

    let session: String
    /// By the first word of a line that the program writes: the number behind it.
    let measured: [String: Double]

    /// Records `binary`, whose lines of output are a name and a number.
    init(_ binary: String, _ arguments: [String], _ way: Way, in directory: TemporaryDirectory) throws {
        session = directory.file("waits.fathom")
        var command =
            [Fathom.executable, "record", "--quiet", "--blocked", "-o", session, "--", binary] + arguments
        if way == .withoutPerf { command.insert(try Self.withoutPerf(), at: 0) }
        let output = try run(command[0], Array(command.dropFirst()))
        #expect(output.status == 0, "\(output.stderr)")
        measured = Dictionary(
            uniqueKeysWithValues: output.stdout.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count == 2 ? Double(words[1]).map { (String(words[0]), $0) } : nil
            })
    }

    /// A program that runs another, which may not ask the kernel for switches.
    static func withoutPerf() throws -> String {
        try Binaries.make("without_perf", command: "gcc", ["-O1"], ["\(Binaries.sources)/without_perf.c"])
    }

    func json(_ arguments: [String]) throws -> [String: Any] {
        let output = try Fathom.run(arguments + ["--format", "json", session])
        #expect(output.status == 0, "\(output.stderr)")
        return try #require(JSONSerialization.jsonObject(with: Data(output.stdout.utf8)) as? [String: Any])
    }
}
