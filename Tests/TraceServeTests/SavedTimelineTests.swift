import TestSupport
import Testing
import TraceFile
import TracePage
import TraceQuery

@testable import TraceServe

/// How fine the timeline of a page is that has all inside.
@Suite struct SavedTimelineTests {
    private let pictures: PictureQuery
    private let time: Range<UInt64>
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("saved-timeline")
        let path = directory.file("x.fathom")
        try RandomTrace(seed: 36, count: 200_000, chunkCalls: 4000).writer.write(to: path)
        let session = try Session.opened(path)
        pictures = try PictureQuery(SessionQuery(session, QueryOptions()))
        let spans = pictures.threads.map { $0.span(session.clock) }
        time = try #require(spans.map(\.lowerBound).min())..<(try #require(spans.map(\.upperBound).max()))
        if let summaries = pictures.prepare(progress: { _ in }) { pictures.use(summaries) }
    }

    /// With room for it, each call is there; with less, steps are longer. There is never more than there is room for.
    @Test func lessRoomMakesLongerSteps() throws {
        var finest: [UInt64] = []
        for room in [16 << 20, 1_000_000, 300_000, 100_000] {
            var told: [Double] = []
            let timeline = SavedTimeline(pictures: pictures, room: room, time: time) { told.append($0) }.timeline()
            #expect(timeline.size <= room && told.last == 1, "\(timeline.size) of \(room)")
            #expect(timeline.origin <= time.lowerBound)
            for level in timeline.levels {
                #expect(timeline.origin + level.span * UInt64(level.tiles.count) >= time.upperBound)
                #expect(timeline.origin % level.unit == 0)
            }
            for (level, next) in zip(timeline.levels, timeline.levels.dropFirst()) {
                #expect(next.span == level.span / 4 && !level.isExact)
            }
            finest.append(try #require(timeline.finest))
        }
        #expect(finest[0] == 0 && finest == finest.sorted() && finest[3] > finest[1], "\(finest)")
    }

    /// Where not even the coarsest picture has room, the first rows have to do.
    @Test func deepCallsAreLeftOut() throws {
        let whole = SavedTimeline(pictures: pictures, room: 16 << 20, time: time) { _ in }.timeline()
        #expect(whole.rows == nil)
        let level = try #require(whole.levels.first)
        let cut = SavedTimeline(pictures: pictures, room: level.size / 2, time: time) { _ in }.timeline()
        #expect(cut.levels.isEmpty || cut.rows != nil)
        #expect(cut.size <= level.size / 2)
    }
}
