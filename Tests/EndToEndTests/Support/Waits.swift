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

    /// Records `binary`, whose lines of output are a name and a number. It goes before others who want the processors, if this process may
    /// do so.
    init(_ binary: String, _ arguments: [String], _ way: Way, in directory: TemporaryDirectory) throws {
        session = directory.file("waits.fathom")
        var command =
            [Fathom.executable, "record", "--quiet", "--blocked", "-o", session, "--", binary] + arguments
        if way == .withoutPerf { command.insert(try Self.withoutPerf(), at: 0) }
        command = Privilege.urgent(command)
        let output = try run(command[0], Array(command.dropFirst()))
        #expect(output.status == 0, "\(output.stderr)")
        measured = Dictionary(
            uniqueKeysWithValues: output.stdout.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count == 2 ? Double(words[1]).map { (String(words[0]), $0) } : nil
            })
    }

    /// Records a program that says itself how often it was `disturbed`, until it was not.
    static func undisturbed(
        _ binary: String, _ arguments: [String], _ way: Way, in directory: TemporaryDirectory
    ) throws -> RecordedWaits {
        for _ in 1...20 {
            let recorded = try RecordedWaits(binary, arguments, way, in: directory)
            if recorded.measured["disturbed"] == 0 { return recorded }
        }
        throw Disturbed()
    }

    /// The program never knew of all its waits.
    struct Disturbed: Error {}

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
