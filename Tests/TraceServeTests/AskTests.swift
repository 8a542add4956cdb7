import Glibc
import Testing

@testable import TraceServe

@Suite struct AskTests {
    private func arguments(
        _ command: String, _ words: String..., before: String? = nil
    ) throws(BadRequest) -> [String]? {
        let query = words.map { word in
            "o=" + word.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }.joined(separator: "&")
        guard case .ask(let request) = try Route("ask/\(command)?\(query)"[...], tracks: { 0 }) else { return nil }
        return try request.arguments(for: "/s/prog.fathom", before: before)
    }

    /// Each option stands in a word with its value, and the session behind all of them.
    @Test func words() throws {
        #expect(
            try arguments("report", "-F", "a b", "--limit=5", "--raw", "--callers", "-x")
                == [
                    "report", "--filter=a b", "--limit=5", "--raw", "--callers=-x", "--format=json", "--",
                    "/s/prog.fathom",
                ])
        #expect(
            try arguments("tail", "work", "--slowest", "1%")
                == ["tail", "--slowest=1%", "--format=json", "--", "/s/prog.fathom", "work"])
        #expect(
            try arguments("flame", "--inverted")
                == ["flame", "--inverted", "--format=json", "--output=-", "--", "/s/prog.fathom"])
        #expect(try arguments("dump")?.contains("--format=jsonl") == true)
        // What looks like an option is none where a value is to be.
        #expect(try arguments("report", "-F", "-o")?.contains("--filter=-o") == true)
        #expect(try arguments("report", "--callers", "--")?.contains("--callers=--") == true)
    }

    /// The session that another one is compared with comes from the server, and not from who asks.
    @Test func comparisons() throws {
        #expect(
            try arguments("diff", "--all", "-F", "--", before: "/s/old.fathom")
                == ["diff", "--all", "--filter=--", "--format=json", "/s/old.fathom", "/s/prog.fathom"])
        #expect(
            try arguments("flame", "--diff", before: "/s/old.fathom")
                == [
                    "flame", "--format=json", "--output=-", "--diff=/s/old.fathom", "--", "/s/prog.fathom",
                ])
        #expect(try arguments("report", before: "/s/old.fathom")?.contains("/s/old.fathom") == false)
        for words in [["diff"], ["flame", "--diff"]] {
            #expect(throws: BadRequest.self) {
                try words.count == 1 ? arguments(words[0]) : arguments(words[0], words[1])
            }
        }
        for words in [
            ["diff", "/s/other"], ["diff", "--output=x"], ["diff", "--fail-on=x"], ["flame", "--diff=/s/other"],
        ] {
            #expect(throws: BadRequest.self, "\(words)") { try arguments(words[0], words[1], before: "/s/old.fathom") }
        }
    }

    @Test func refusals() {
        for words in [
            ["report", "--symbols", "/etc"], ["report", "--symbols=/etc"], ["flame", "-o", "x"], ["flame", "-ox"],
            ["flame", "--output=x"], ["flame", "--open"], ["flame", "--diff", "other"], ["flame", "--format", "html"],
            ["report", "--format=csv"], ["tail", "-o", "x"], ["report", "--help"], ["report", "--version"],
            ["report", "--"],
            ["report", "-"], ["report", "word"], ["tail", "one", "two"], ["info", "/bin/ls"], ["report", "-Fx"],
            ["report", "--filt=x"], ["report", "--FILTER=x"], ["report", "--filter"], ["report", "--raw=yes"],
            ["report", "-t=1"],
            ["tree", "--limit"], ["report", "--no-pager"], ["report", "---completion"],
            ["report", "-F", String(repeating: "x", count: 4097)],
        ] {
            #expect(throws: BadRequest.self, "\(words)") {
                let query = words.dropFirst().map { "o=\($0.replacing("=", with: "%3d"))" }.joined(separator: "&")
                _ = try Route("ask/\(words[0])?\(query)"[...], tracks: { 0 })
            }
        }
        for pane in ["", "a%20b", "a/b", String(repeating: "x", count: 65)] {
            #expect(throws: BadRequest.self) { try Route("ask/report?pane=\(pane)"[...], tracks: { 0 }) }
        }
    }

    @Test func turns() {
        let queue = AskQueue(most: 2)
        let turns = (0..<4).map { _ in queue.enter(key: nil) }
        #expect(turns.map(\.state) == [.running, .running, .waiting, .waiting])
        queue.leave(turns[2])
        queue.leave(turns[0])
        #expect(turns[3].state == .running)
        let old = queue.enter(key: "report a"), other = queue.enter(key: "report b"), new = queue.enter(key: "report a")
        #expect([old, other, new].map(\.state) == [.superseded, .waiting, .waiting])
        queue.leave(turns[1])
        #expect(other.state == .running && new.state == .waiting)
        let newest = queue.enter(key: "report b")
        #expect(other.state == .superseded && newest.state == .waiting)
        queue.stop()
        #expect([new, newest, turns[3]].map(\.state) == [.stopped, .stopped, .stopped])
        #expect(queue.enter(key: nil).state == .stopped)
    }

    /// A process that answers a question, with another program in Fathom's place.
    @Test func processes() throws {
        let queue = AskQueue(most: 1)
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair where end >= 0 { close(end) } }
        func run(_ script: String, _ turn: AskTurn) -> AskProcess.Outcome {
            AskProcess(program: "/bin/sh", arguments: ["-c", script]).run(turn, for: pair[0])
        }
        func run(_ script: String) -> AskProcess.Outcome {
            let turn = queue.enter(key: nil)
            defer { queue.leave(turn) }
            return run(script, turn)
        }
        #expect(
            run("echo out; echo fault >&2; exit 3")
                == .ended(status: 3 << 8, output: Array("out\n".utf8), errors: Array("fault\n".utf8)))
        #expect(run("cat; kill -9 $$") == .ended(status: 9, output: [], errors: []))
        #expect(run("yes") == .tooLarge)
        #expect(
            AskProcess(program: "/nowhere", arguments: []).run(queue.enter(key: "x"), for: pair[0])
                == .notStarted(errno: ENOENT))
        // The one before has its turn still.
        close(pair[1])
        pair[1] = -1
        #expect(run("sleep 600", queue.enter(key: nil)) == .clientLeft)
        queue.stop()
        #expect(run("sleep 600", queue.enter(key: nil)) == .given(up: .stopped))
    }

    @Test func replies() throws {
        let report = try #require(try Route("ask/report", tracks: { 0 }))
        let dump = try #require(try Route("ask/dump", tracks: { 0 }))
        func text(_ route: Route, _ status: Int32, _ output: String, _ errors: String) -> String {
            guard case .ask(let request) = route else { return "" }
            let outcome = AskProcess.Outcome.ended(
                status: status, output: Array(output.utf8), errors: Array(errors.utf8))
            let reply = Reply(outcome, to: request)
            return "\(reply.status) \(String(decoding: reply.bytes, as: UTF8.self))"
        }
        #expect(
            text(report, 0, "{\"a\":1}\n", "fathom: warning: x\nnoise\n")
                == #"200 {"said":["warning: x"],"answer":{"a":1}}"#)
        #expect(text(report, 0, "", "") == #"200 {"said":[],"answer":null}"#)
        #expect(text(dump, 0, "{\"a\":1}\n{\"b\":2}\n", "") == #"200 {"said":[],"answer":[{"a":1},{"b":2}]}"#)
        #expect(text(dump, 0, "", "") == #"200 {"said":[],"answer":[]}"#)
        #expect(
            text(report, 1 << 8, "", "fathom: warning: y\nfathom: error: nothing\nUsage: z\n")
                == #"422 {"said":["warning: y"],"error":"nothing","status":1}"#)
        #expect(text(report, 9, "", "") == #"422 {"said":[],"error":"fathom report was ended by SIGKILL"}"#)
    }
}
