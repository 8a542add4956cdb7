internal import Glibc
import TestSupport
import Testing

/// A program that hangs in the way that it is told, watched by `fathom watch`.
struct Hangs {
    let directory: TemporaryDirectory
    var reports: String { directory.file("reports") }

    init() throws { directory = try TemporaryDirectory("hangs") }

    static func program() throws -> String { try Binaries.instrumented("hangs.c", .gccO2) }

    /// What `fathom watch` runs.
    func command(_ options: [String], _ program: [String]) -> [String] {
        [Fathom.executable, "watch", "--quiet", "--reports", reports] + options + ["--"] + program
    }

    /// The same, which goes before others who want the processors, as ``Privilege/urgent(_:)`` says.
    func urgentCommand(_ options: [String], _ program: [String]) -> [String] {
        Privilege.urgent(command(options, program))
    }

    func start(_ options: [String], _ program: [String]) throws -> BackgroundProcess {
        try BackgroundProcess(command(options, program))
    }

    /// The reports so far, each as its JSON text.
    func found() -> [String] {
        Hangs.files(in: reports).compactMap { (try? readFile($0)).map { String(decoding: $0, as: UTF8.self) } }
    }

    /// The reports in a directory, as JSON.
    static func files(in directory: String) -> [String] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().map { "\(directory)/\($0)" }
    }

    /// Waits for a report.
    ///
    /// - Parameter condition: what it is to say.
    func wait(for condition: @escaping (String) -> Bool = { _ in true }) -> String? {
        var report: String?
        for _ in 0..<1500 where report == nil {
            usleep(20_000)
            report = found().first(where: condition)
        }
        return report
    }
}

extension String {
    /// The value of a member, as text; of several of that name, the first.
    func member(_ name: String) -> String? {
        guard let start = firstRange(of: "\"\(name)\":")?.upperBound else { return nil }
        let rest = self[start...]
        if rest.hasPrefix("\"") { return String(rest.dropFirst().prefix { $0 != "\"" }) }
        if rest.hasPrefix("[") { return String(rest.prefix { $0 != "]" }) + "]" }
        return String(rest.prefix { !",}".contains($0) })
    }

    /// The part of a report that is about a thread.
    func thread(_ tid: String) -> String? {
        components(of: "{\"name\":").first { $0.contains("\"tid\":\(tid),") }
    }

    private func components(of separator: String) -> [String] {
        guard let list = firstRange(of: "\"threads\":[")?.upperBound else { return [] }
        return self[list...].split(separator: "\"library_calls\"").map(String.init)
    }

    /// The names of the open calls of the thread that hangs.
    var path: [String] {
        (member("path") ?? "").split(separator: "\"name\":\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }
}
