internal import Foundation
import TestSupport
import Testing

/// A recording with waits, and what its program measured itself.
struct RecordedWaits {
    /// What the kernel tells: as much as this user may know, what any user may know, or nothing.
    enum Way: String, CaseIterable { case wakings, switches, withoutPerf }

    let session: String
    /// What the program wrote.
    let output: String
    /// The numbers in that, by their names.
    let measured: [String: Double]
    /// What interrupts and the host took from the processors meanwhile, at most, in ns: the kernel counts it for no thread, as far as it
    /// knows of it.
    let taken: Double

    /// Records `binary`, whose lines of output are a name and a number. It goes before others who want the processors, if
    /// this process may do so.
    init(_ binary: String, _ arguments: [String], _ way: Way, in directory: TemporaryDirectory) throws {
        session = directory.file("waits.fathom")
        var command =
            [Fathom.executable, "record", "--quiet", "--blocked", "-o", session, "--", binary] + arguments
        if way == .withoutPerf { command.insert(try Self.withoutPerf(), at: 0) }
        if way == .switches, Privilege.isRoot { command = ["setpriv", "--bounding-set=-all"] + command }
        command = Privilege.urgent(command)
        let before = try Self.ticksTaken()
        let output = try run(command[0], Array(command.dropFirst()))
        #expect(output.status == 0, "\(output.stderr)")
        // A tick of 10 ms may have been nearly full before.
        let ticks = try Self.ticksTaken() - before
        taken = ticks > 0 ? Double(ticks + 1) * 1e7 : 0
        self.output = output.stdout
        measured = try output.numbers()
    }

    /// The ticks of interrupts, of what they left to be done, and of the host's other work, of all processors (proc_stat(5)).
    private static func ticksTaken() throws -> Int {
        let line = try readFile("/proc/stat").prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self).split(separator: " ")[6...8].reduce(0) { $0 + (Int($1) ?? 0) }
    }

    /// Records a program until it was not disturbed. As a rule it says itself how often it was.
    static func undisturbed(
        _ binary: String, _ arguments: [String], _ way: Way, in directory: TemporaryDirectory,
        isRight: ([String: Double]) -> Bool = { $0["disturbed"] == 0 }
    ) throws -> RecordedWaits {
        for _ in 1...20 {
            let recorded = try RecordedWaits(binary, arguments, way, in: directory)
            if isRight(recorded.measured) { return recorded }
        }
        throw Disturbed()
    }

    /// The program never knew of all its waits.
    struct Disturbed: Error {}

    /// A program that runs another, which may not ask the kernel for switches.
    static func withoutPerf() throws -> String {
        try Binaries.make("without_perf", command: "gcc", ["-O1"], ["\(Binaries.sources)/without_perf.c"])
    }

    /// Whether the kernel told when threads had no CPU.
    func knowsSwitches() throws -> Bool {
        let blocked = try #require(try json(["info"])["blocked"] as? [String: Any])
        return blocked["context_switches"] as? Bool == true
    }

    func json(_ arguments: [String]) throws -> [String: Any] {
        let output = try Fathom.run(arguments + ["--format", "json", session])
        #expect(output.status == 0, "\(output.stderr)")
        return try #require(JSONSerialization.jsonObject(with: Data(output.stdout.utf8)) as? [String: Any])
    }
}

extension ProcessOutput {
    /// The numbers that a program wrote, by the name before each on its line. Other lines do not count.
    func numbers<Number: LosslessStringConvertible>() throws -> [String: Number] {
        var numbers: [String: Number] = [:]
        for line in stdout.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Number(String(words[1])) else { continue }
            let other = numbers.updateValue(number, forKey: String(words[0]))
            try #require(other == nil, "\(words[0]) stands there twice: \(stdout)")
        }
        return numbers
    }
}
