import Testing

@testable import TraceServe

@Suite struct RouteTests {
    private func route(_ target: String, tracks: Int = 4) throws(BadRequest) -> Route? {
        try Route(target[...], tracks: { tracks })
    }

    @Test func names() throws {
        #expect(try route("") == .page)
        #expect(try route("session") == .session)
        #expect(try route("events") == .events)
        #expect(try route("names?from=12") == .names(from: 12))
        #expect(try route("source?file=%2Fa+b.c") == .source("/a b.c"))
        #expect(throws: BadRequest.self) { try route("source") }
        #expect(throws: BadRequest.self) { try route("source?file=a&file=b") }
        for target in [
            "x", "/", "session/", "../session", "%73ession", "Session", "ask", "ask/", "ask/record", "ask/report/", ".",
        ] {
            #expect(try route(target) == nil, "\(target)")
        }
    }

    @Test func pictures() throws {
        guard case .picture(let picture) = try route("picture?from=5&to=900&width=800&tracks=0,3&rows=2-39") else {
            Issue.record("no picture")
            return
        }
        #expect(picture.time == 5..<900 && picture.width == 800 && picture.tracks == [0, 3] && picture.rows == 2..<40)
        let good = ["from": "5", "to": "9", "width": "8", "tracks": "0", "rows": "0-0"]
        func query(_ changed: [String: String?]) -> String {
            let all = good.merging(changed.compactMapValues { $0 }) { $1 }.filter { changed[$0.key] != .some(nil) }
            return "picture?" + all.map { "\($0)=\($1)" }.joined(separator: "&")
        }
        #expect(throws: Never.self) { try route(query([:])) }
        for (name, values) in [
            "from": ["", "-1", "1.5", "1e3", "9", "10", "0x5", "٣", "18446744073709551616"], "to": ["5", "4", ""],
            "width": ["0", "16385", ""], "tracks": ["", "4", "0,", ",", "0,0", "-1", "0;1"],
            "rows": ["", "0", "3-2", "0-65536", "-3", "0-1-2", "a-b"], "other": ["1"],
        ] {
            for value in values {
                #expect(throws: BadRequest.self, "\(name)=\(value)") { try route(query([name: value])) }
            }
        }
        for name in good.keys { #expect(throws: BadRequest.self) { try route(query([name: nil])) } }
        #expect(throws: BadRequest.self) { try route(query([:]) + "&width=9") }
        guard case .waits(let stretch) = try route("waits?from=5&to=900&tracks=1,3") else {
            Issue.record("no waits")
            return
        }
        #expect(stretch.time == 5..<900 && stretch.tracks == [1, 3])
        for bad in ["from=5&to=5&tracks=1", "from=5&to=9&tracks=4", "from=5&to=9", "from=5&to=9&tracks=1&rows=0-1"] {
            #expect(throws: BadRequest.self, "\(bad)") { try route("waits?\(bad)") }
        }
        #expect(throws: BadRequest.self) { try route("call?track=0&row=0&at=1", tracks: 0) }
        let call = try route("call?track=3&row=7&at=12")
        guard case .call(let request) = call else {
            Issue.record("no call")
            return
        }
        #expect((request.track, request.row, request.moment) == (3, 7, 12))
    }

    @Test func text() throws {
        #expect(Parameters.decoded("a%2Bb+c%c3%a4") == "a+b cä")
        for text in ["%", "%2", "%zz", "%ff", "%00", "%c3"] { #expect(Parameters.decoded(text[...]) == nil, "\(text)") }
        #expect(throws: BadRequest.self) { try Parameters(String(repeating: "a=b&", count: 201)[...]) }
        #expect(throws: BadRequest.self) { try route("session?a=b") }
        #expect(throws: BadRequest.self) { try route("session?%ff=b") }
    }
}
