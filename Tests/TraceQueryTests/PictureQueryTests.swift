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
        let directory = try TemporaryDirectory("pictures")
        let path = directory.file("x.fathom"), summaries = path + "/summaries"
        let trace = RandomTrace(seed: 1, count: 200_000, chunkCalls: 4000)
        try trace.writer.write(to: path)
        func opened() throws -> PictureQuery {
            try PictureQuery(SessionQuery(try Session.opened(path), QueryOptions()))
        }
        func shown(_ query: PictureQuery) -> [Picture.Entry] {
            query.picture(ofThread: 0, from: 0, to: .max >> 1, step: 1 << 20, rows: 0..<12).entries
        }
        let settled = Date(timeIntervalSinceNow: -60)
        try FileManager.default.setAttributes([.modificationDate: settled], ofItemAtPath: path + "/trace")
        while try opened().prepare(progress: { _ in }) != nil, access(summaries, F_OK) != 0 { usleep(200_000) }
        let query = try opened()
        query.use(try #require(query.prepare(progress: { _ in })))
        let kept = shown(query)
        #expect(kept.count > 1000)
        // What has been spoiled is made again.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: summaries))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: summaries))
        let again = try opened()
        again.use(try #require(again.prepare(progress: { _ in })))
        #expect(shown(again) == kept)
        #expect(try Data(contentsOf: URL(fileURLWithPath: summaries)) != bytes)
    }

    @Test func nothingIsKeptOfSmallLogs() throws {
        let query = try opened()
        #expect(query.prepare(progress: { _ in }) != nil)
        #expect(access(summaries, F_OK) != 0)
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
