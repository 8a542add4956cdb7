import Glibc
import TestSupport
import Testing
import TraceFile
import TraceHistory
import TraceQuery
import TraceSystem
import TraceText

@testable import TraceFleet

/// The directory of the fleet's tables, and what is written there, taken elsewhere and removed.
@Suite struct FleetDirectoryTests {
    private let place: TemporaryDirectory
    private let directory: FleetDirectory

    init() throws {
        place = try TemporaryDirectory("fleet")
        directory = try FleetDirectory(place.file("tables"))
    }

    @Test(arguments: [
        ("tables", FleetTarget.directory("tables")), ("file:///var/fleet", .directory("/var/fleet")),
        ("://x", .directory("://x")), ("a/b://c", .directory("a/b://c")),
        ("S3://bucket/a", .url("S3://bucket/a", scheme: "s3")), ("x+y.z-1://h", .url("x+y.z-1://h", scheme: "x+y.z-1")),
    ])
    func targets(_ text: String, _ target: FleetTarget) {
        #expect(FleetTarget(text) == target)
        if case .url(_, let scheme) = target { #expect((FleetTarget.command(for: scheme) != nil) == (scheme == "s3")) }
    }

    private func write(_ text: String, to file: String) throws {
        try directory.makeDirectory(FleetDirectory.parent(of: file))
        try directory.write(to: file, isDurable: true) { $0.write(text) }
    }

    @Test func files() throws {
        try write("text", to: "a/b/file")
        #expect(try directory.read("a/b/file") == Array("text".utf8) && directory.read("a/none") == nil)
        try directory.synchronize("a/b")
        try directory.move("a/b/file", to: "c/d/file")
        // What was moved already is not moved again.
        try directory.move("a/b/file", to: "c/d/file")
        #expect(try directory.read("c/d/file") != nil && directory.names(in: "a/b") == [])
        directory.removeEmpty("a/b")
        #expect(directory.names(in: "") == ["c"])
    }

    @Test func failures() throws {
        try write("text", to: "file")
        let path = place.file("tables/file")
        let errors = [
            #expect(throws: SystemError.self) { try directory.makeDirectory("file/below") },
            #expect(throws: SystemError.self) { try FleetDirectory(path) },
        ]
        #expect(errors.map { $0?.description } == Array(repeating: "\(path): Not a directory", count: 2))
        #expect(throws: SystemError.self) { try directory.synchronize("none") }
        #expect(throws: SystemError.self) { try directory.write(to: "none/file") { $0.write("text") } }
    }

    /// A session of one call, and what collects it.
    private func collector() throws -> FleetCollector {
        let path = place.file("s.fathom")
        if access(path, F_OK) != 0 {
            try TraceWriter.session(path) { records in
                records.enter(0x1000, at: 0)
                records.exit(at: 10)
            }
        }
        return try FleetCollector(
            Session.opened(path), into: directory, labels: [("version", "1")], symbols: [],
            listener: { QueryListener() })
    }

    /// Of a whole session all is written at once, and never again.
    @Test func collected() throws {
        do {
            let collector = try collector()
            #expect(throws: FleetCollector.Failure.busy(session: collector.path, directory: directory.path)) {
                try self.collector()
            }
            #expect(try !collector.collect() && !collector.collect())
        }
        let parts = directory.parts()
        #expect(Set(parts.map(\.table)) == [0, 1, 2] && Set(parts.map(\.name)).count == 1 && parts.count == 3)
        #expect(try !collector().collect() && directory.parts().map(\.file) == parts.map(\.file))
    }

    @Test func damagedState() throws {
        _ = try collector().collect()
        let state = try #require(directory.names(in: FleetCollector.folder).first { $0.hasSuffix(".state") })
        try write("words", to: "\(FleetCollector.folder)/\(state)")
        let error = #expect(throws: FleetCollector.Failure.self) { try collector() }
        #expect(
            error?.description.hasSuffix(
                "\(state): is damaged; to begin anew, remove it, and \(state.dropLast(6))-*.parquet") == true)
        #expect(directory.parts().count == 3)
    }

    /// What is not taken stays; what is taken goes, with the directories that are empty then.
    @Test func uploaded() throws {
        _ = try collector().collect()
        let files = directory.parts().map(\.file)
        let failing = FleetUpload(directory: directory, command: "exit 3", prefix: "s3://b")
        let missed = failing.run { false }
        #expect(missed?.hasSuffix(": 'exit 3' ended with status 3") == true && directory.parts().count == 3)
        let list = place.file("taken")
        let taking = FleetUpload(directory: directory, command: "echo \"$2\" >> '\(list)'", prefix: "s3://b")
        #expect(taking.run { true } == nil && directory.parts().count == 3)
        #expect(taking.run { false } == nil && directory.parts().isEmpty)
        let taken = String(decoding: try readFile(list), as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(Set(taken) == Set(files.map { "s3://b/\($0)" }) && taken.last?.hasPrefix("s3://b/run/") == true)
    }

    /// The newest interval stays, however large or old.
    @Test func pruned() throws {
        let names = [1, 2].map { FleetFile.name(session: 7, part: $0) + ".parquet" }
        for (name, table) in names.flatMap({ name in FleetFile.Table.allCases.map { (name, $0) } }) {
            try write("table", to: "\(table.rawValue)/date=2026-01-01/program=p/\(name)")
        }
        for part in directory.parts() where part.name == names[0] {
            var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, "\(directory.path)/\(part.file)", &times, 0) == 0)
        }
        #expect(FleetPruning(directory: directory, keep: nil, maxSize: 1 << 40).prune() == 0)
        #expect(directory.parts().count == 6)
        #expect(FleetPruning(directory: directory, keep: nil, maxSize: 1).prune() == 1)
        #expect(Set(directory.parts().map(\.name)) == [names[1]])
        #expect(FleetPruning(directory: directory, keep: 0, maxSize: 1).prune() == 0 && directory.parts().count == 3)
    }
}
