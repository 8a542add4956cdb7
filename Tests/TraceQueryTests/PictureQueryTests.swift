import Foundation
import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceQuery

@Suite struct PictureQueryTests {
    private let fixture: QueryFixture

    init() throws { fixture = try QueryFixture() }

    private var summaries: String { fixture.path + "/summaries" }

    private func opened() throws -> PictureQuery {
        try PictureQuery(SessionQuery(try Session.opened(fixture.path), QueryOptions()))
    }

    /// The log as it was long ago; nothing is kept of one that may change again.
    private func settle() throws {
        usleep(10_000)
        let status = try FileManager.default.attributesOfItem(atPath: fixture.path + "/trace")
        #expect(status[.modificationDate] != nil)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: fixture.path + "/trace")
    }

    private func shown(_ query: PictureQuery) -> [[String]] {
        query.threads.indices.map { index in
            let picture = query.picture(ofThread: index, from: 0, to: 5000, step: 1, rows: 0..<3)
            return picture.entries.map {
                "\(query.query.functions[$0.function].name) \($0.begin)-\($0.end) x\($0.calls)"
            }
        }
    }

    @Test func chunksAndSummariesShowTheSame() throws {
        let query = try opened()
        let expected = [0x5555_0000_0020, QueryFixture.gone, 0x5555_0000_0020].map { function in
            ["0x555500000010 1000-2000 x1", "0x" + String(function, radix: 16) + " 1100-1400 x1"]
        }
        func named(_ shown: [[String]]) -> [[String]] {
            shown.map { $0.map { String($0.split(separator: " ").dropFirst().joined(separator: " ")) } }
        }
        #expect(named(shown(query)) == named(expected))
        #expect(query.threads.count == 3)
        let before = shown(query)
        let made = try #require(query.prepare { _ in })
        query.use(made)
        #expect(shown(query) == before)
        #expect(query.rowCount(ofThread: 0) == 2)
    }

    /// The kernel sets when a file's status changed, so the log has to have been there for a while.
    @Test func whatIsKeptIsReadAgain() throws {
        try settle()
        while try opened().prepare(progress: { _ in }) != nil, access(summaries, F_OK) != 0 { usleep(200_000) }
        let query = try opened(), before = shown(query)
        query.use(try #require(query.prepare { _ in }))
        #expect(shown(query) == before)
        // What has been spoiled is made again.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: summaries))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: summaries))
        let again = try opened()
        again.use(try #require(again.prepare { _ in }))
        #expect(shown(again) == before)
        #expect(try Data(contentsOf: URL(fileURLWithPath: summaries)) != bytes)
    }

    @Test func aDirectoryInItsPlaceStays() throws {
        try FileManager.default.createDirectory(atPath: summaries, withIntermediateDirectories: false)
        let query = try opened(), before = shown(query)
        query.use(try #require(query.prepare { _ in }))
        #expect(shown(query) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: summaries).isEmpty)
    }

    @Test func theCallAtAMoment() throws {
        let pictures = try opened(), query = pictures.query
        let thread = try #require(pictures.threads.first)
        let inner = try #require(query.call(of: thread, row: 1, at: 1200))
        #expect(inner.call.start == 1100 && inner.call.total == 300 && inner.callers.count == 1)
        let outer = try #require(query.call(of: thread, row: 0, at: 1900))
        #expect(outer.call.total == 1000 && outer.call.selfTime == 700 && outer.callers.isEmpty)
        #expect(query.call(of: thread, row: 1, at: 1900) == nil)
        #expect(query.call(of: thread, row: 2, at: 1200) == nil)
    }
}
