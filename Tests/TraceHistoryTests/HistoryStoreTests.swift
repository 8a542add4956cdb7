import Foundation
import TestSupport
import Testing
import TraceAnalysis

@testable import TraceHistory

@Suite struct HistoryStoreTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("history") }

    private func store(_ name: String = "h.db", creates: Bool = true) throws -> HistoryStore {
        try HistoryStore(path: directory.file(name), creates: creates)
    }

    /// Those who open a new file at the same time all find a history.
    @Test func manyMakeIt() async throws {
        for round in 0..<150 {
            let path = directory.file("\(round).db")
            let failures = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do throws(HistoryError) {
                            _ = try HistoryStore(path: path, creates: true)
                            return nil
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: [String]()) { if let failure = $1 { $0.append(failure) } }
            }
            #expect(failures.isEmpty, "\(failures), round \(round)")
        }
    }

    /// What was added is what is read, by another connection, and once.
    @Test func roundTrip() throws {
        var one = SyntheticRun(), random = SeededGenerator(seed: 1)
        one.labels = [("commit", "4f2a"), ("version", "1.2")]
        one.disturb(&random)
        let first = try store()
        #expect(try first.add(one.run(0), one.content) == (1, true))
        #expect(try first.add(one.run(0), one.content) == (1, false))
        try one.add(1, to: first)
        let second = try store(creates: false)
        let runs = try second.runs()
        try #require(runs.map(\.id) == [1, 2])
        #expect(runs[0].label("version") == "1.2" && runs[0].label("commit") == "4f2a" && runs[0].label("x") == nil)
        #expect(runs[0].command == "prog 10" && runs[0].calls == one.run(0).calls && runs[0].paths == 6)
        let read = try second.content(of: 2, try second.catalog(paths: true))
        #expect(read.functions.map(\.identity) == one.content.functions.map(\.identity))
        #expect(read.functions.map(\.sums) == one.content.functions.map(\.sums))
        #expect(read.paths.map(\.caller) == one.content.paths.map(\.caller))
        #expect(read.paths.map(\.sums) == one.content.paths.map(\.sums))
        #expect(read.modules == one.content.modules)
        #expect(read.events.marks == one.content.events.marks && read.events.counters == one.content.events.counters)
        let catalog = try second.catalog(paths: true)
        #expect(catalog.names(ofPath: 5) == ["main", "work", "fast", "leaf"])
        #expect(try second.sums(ofFunction: 3, durations: true)[1] == one.content.functions[3].sums)
    }

    /// Shared parts are stored once, and numbers of more than one page go together.
    @Test func manyPaths() throws {
        let store = try store()
        var content = RunContent()
        for index in 0..<3000 {
            var sums = SubjectSums()
            sums.calls = UInt64(index)
            content.functions.append(RunContent.Function(identity: .init(module: "", name: "f\(index)"), sums: sums))
            content.paths.append(RunContent.Path(caller: index / 2 - 1, function: index, sums: sums))
        }
        for number in 0..<3 { _ = try store.add(SyntheticRun().run(number), content) }
        let catalog = try store.catalog(paths: true)
        #expect(catalog.functions.count == 3000 && catalog.paths.count == 3000)
        for number in [0, 31, 32, 1023, 1024, 2999] as [UInt32] {
            let sums = try store.sums(ofPath: number)
            #expect(sums.count == 3 && sums[2]?.calls == UInt64(number))
        }
        let read = try store.content(of: 3, catalog)
        #expect(read.paths.map(\.caller) == content.paths.map(\.caller))
    }

    @Test func remove() throws {
        let store = try store()
        for number in 0..<3 { try SyntheticRun().add(number, to: store) }
        #expect(throws: HistoryError.noRun(path: store.path, run: 9)) { try store.remove([1, 9]) }
        #expect(try store.runs().count == 3)
        try store.remove([2])
        #expect(try store.runs().map(\.id) == [1, 3])
        #expect(try Set(store.sums(ofFunction: 0).keys) == [1, 3] && Set(store.sums(ofPath: 5).keys) == [1, 3])
        #expect(try Set(store.moments(ofMark: "ready").keys) == [1, 3])
        _ = try store.compact()
        #expect(try store.runs().count == 2)
    }

    /// Numbers of functions and paths differ from history to history; runs are the same.
    @Test func merge() throws {
        let (ours, theirs) = (try store(), try store("other.db"))
        var other = SyntheticRun()
        other.calls[5] = 77
        var content = other.content
        content.functions.append(RunContent.Function(identity: .init(module: nil, name: "new"), sums: SubjectSums()))
        content.functions.swapAt(0, 6)
        for index in content.paths.indices where content.paths[index].function == 0 {
            content.paths[index].function = 6
        }
        _ = try theirs.add(other.run(5), content)
        try SyntheticRun().add(0, to: ours)
        try SyntheticRun().add(0, to: theirs)
        #expect(try ours.merge(theirs) == (1, 1))
        #expect(try ours.merge(theirs) == (0, 2))
        let leaf = try #require(try ours.catalog().functions.firstIndex { $0.name == "leaf" })
        #expect(try ours.sums(ofFunction: UInt32(leaf)).mapValues(\.calls) == [1: 2000, 2: 77])
        #expect(try ours.runs().map(\.key) == ["run 0", "run 5"])
    }

    /// A file of an older version gets what it lacks and loses nothing; one of a newer version stays as it is.
    @Test func versions() throws {
        let path = directory.file("old.db")
        do {
            let old = try HistoryStore(path: path, creates: true, version: 1)
            try old.database.run(
                "INSERT INTO run VALUES(7, 'k', 5, 'p', 'c', 's', 'h', '', '', '', 'trace', 1, 2, 0, 0, 0)")
        }
        let new = try HistoryStore(path: path, creates: false)
        #expect(try new.runs().map(\.id) == [7])
        try SyntheticRun().add(0, to: new)
        #expect(try new.moments(ofMark: "ready").count == 1)
        try new.database.run("PRAGMA user_version = 99")
        #expect(throws: HistoryError.newer(path: path, found: 99, known: HistorySchema.version)) {
            _ = try HistoryStore(path: path, creates: true)
        }
    }

    @Test func otherFiles() throws {
        let text = try directory.write(String(repeating: "no database at all\n", count: 200), to: "text")
        #expect(throws: HistoryError.notAHistory(path: text)) { _ = try HistoryStore(path: text, creates: true) }
        #expect(throws: HistoryError.missing(path: "/none/h.db")) {
            _ = try HistoryStore(path: "/none/h.db", creates: false)
        }
        let other = directory.file("other.db")
        do {
            let database = try SQLiteDatabase(path: other, creates: true)
            try database.run("CREATE TABLE somebody(x)")
        }
        #expect(throws: HistoryError.notAHistory(path: other)) { _ = try HistoryStore(path: other, creates: true) }
        #expect(HistoryStore.isDatabase(at: other) && !HistoryStore.isDatabase(at: text))
    }

    /// When nobody has it open any more, a history is its one file.
    @Test func oneFile() throws {
        do {
            let store = try store()
            try SyntheticRun().add(0, to: store)
            let reader = try self.store(creates: false)
            #expect(try reader.runs().count == 1)
            store.close()
            try SyntheticRun().add(1, to: store)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["h.db"])
        // The version of the file format that needs no log beside the file (https://sqlite.org/fileformat2.html).
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.file("h.db"))))
        #expect(bytes[18] == 1 && bytes[19] == 1)
    }

    /// Where nothing can be written, a history is read in every state that it may be left in: whole, with a log beside it, and
    /// without the log that it asks for. Root may write anywhere, so this runs as nobody.
    @Test func readInUnwritableDirectory() throws {
        do { try SyntheticRun().add(0, to: try store("whole.db")) }
        let open = try store("logged.db")
        try SyntheticRun().add(0, to: open)
        try SyntheticRun().add(1, to: open)
        let (place, copies) = (directory.path, directory.file("copies"))
        try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: false)
        for name in ["whole.db", "logged.db", "logged.db-wal"] {
            try FileManager.default.copyItem(atPath: "\(place)/\(name)", toPath: "\(copies)/\(name)")
        }
        // The log alone is left out.
        open.close()
        try SyntheticRun().add(2, to: open)
        try FileManager.default.copyItem(atPath: "\(place)/logged.db", toPath: "\(copies)/asks.db")
        #expect(chmod(copies, 0o555) == 0)
        defer { chmod(copies, 0o755) }
        for (name, count) in [("whole.db", 1), ("logged.db", 2), ("asks.db", 2)] {
            let store = try HistoryStore(path: "\(copies)/\(name)", creates: false)
            #expect(try store.runs().count >= count, "\(name)")
        }
        if geteuid() != 0 {
            let store = try HistoryStore(path: "\(copies)/whole.db", creates: false)
            #expect(throws: HistoryError.self) { try store.requireWritable() }
        }
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: copies)).isSuperset(of: ["asks.db", "whole.db"]))
    }
}
