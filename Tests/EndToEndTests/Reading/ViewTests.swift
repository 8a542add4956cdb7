import Glibc
import TestSupport
import Testing

/// The page of a recording, and who gets it.
@Suite struct ViewTests {
    private let directory: TemporaryDirectory
    /// A copy of a recording, for the test to do with it as it likes.
    private let session: String

    init() throws {
        directory = try TemporaryDirectory("view")
        session = directory.file("session.fathom")
        try run("cp", ["-r", DrawnRecording().session, session])
    }

    private func view(_ options: [String] = ["--no-browser"], environment: [String: String] = [:]) throws -> ViewServer
    {
        try ViewServer(session, in: directory, options, environment: environment)
    }

    private func jq(_ filter: String, _ document: String) throws -> String {
        try EndToEndTests.jq(filter, of: document, isRaw: true)
    }

    /// What all records tell, as soon as they have been read.
    private func events(of server: ViewServer) -> ViewServer.Reply {
        var events = ViewServer.Reply()
        #expect(
            waitUntil {
                (try? server.get("events")).map {
                    events = $0; return $0.status == 200
                } ?? false
            })
        return events
    }

    @Test func routes() throws {
        let server = try view()
        let page = try server.get("")
        #expect(page.status == 200 && page.head.contains("\nContent-Type: text/html; charset=utf-8"))
        for words in [
            "Content-Security-Policy: default-src 'none'; script-src 'sha256-", "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'", "form-action 'none'", "\nReferrer-Policy: no-referrer",
            "\nX-Content-Type-Options: nosniff",
            "\nCross-Origin-Resource-Policy: same-origin", "\nCache-Control: no-store",
        ] { #expect(page.head.contains(words), "\(words)") }
        let told = try server.get("session")
        #expect(told.status == 200 && told.head.contains("\nContent-Type: application/json"))
        #expect(try jq(".version, .session, .content, .isRecording", told.body) == "1\nsession.fathom\ncalls\nfalse")
        #expect(try jq(".command[0] | split(\"/\") | last", told.body) == "json-gcc-O0")
        #expect(try jq(".tracks | length", told.body) == "1")
        #expect(try jq(".tracks[0] | .kind, .process, (.label | split(\" \")[0])", told.body) == "thread\n0\nmain")
        // What report tells is what is told here.
        let report = try server.get("ask/report?o=--callees&o=main&o=--limit=0")
        #expect(report.status == 200)
        let all = try run(Fathom.executable, ["report", session, "--format", "json"]).stdout
        #expect(try jq(".tracks[0].calls", told.body) == jq("[.functions[].calls] | add", all))
        #expect(try jq(".end > .begin and .tracks[0].end == .end", told.body) == "true")

        let events = events(of: server)
        #expect(try jq(".tracks[0].marks, .tracks[0].counters", events.body) == "[]\n[]")
        let picture = try server.get("picture?from=0&to=9&width=8&tracks=0&rows=0-3")
        #expect(picture.status == 200 && picture.body.hasPrefix("FATP"))
        #expect(try server.get("picture?from=0&to=9&width=8&tracks=1&rows=0-3").status == 400)
        #expect(try jq(".from", server.get("names?from=0").body) == "0")
        for (target, status) in [
            ("nothing", 404), ("../session", 404), ("session/", 404), ("names", 400), ("names?from=x", 400),
            ("session?x=y", 400),
            ("ask/record", 404), ("ask/report?o=--symbols=/", 400), ("%2e%2e/session", 404), ("call", 400),
        ] {
            #expect(try server.get(target).status == status, "\(target)")
        }
        let head = try server.get("", method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head.head.contains("Content-Length: "))
    }

    /// Recordings of all kinds, also those of older versions, are told of.
    @Test func kinds() throws {
        let kept = "\(Binaries.repository)/Traces/recorded"
        for (name, content, tracks) in [
            ("0.2.0-trace", "calls", 2), ("0.2.0-waits", "calls", 2), ("0.2.0-profile", "paths", 2),
            ("0.2.0-counts", "counts", 2), ("0.2.0-samples", "samples", 1), ("0.2.0-first", "firstCalls", 2),
            ("0.2.0-packed/session.fathomz", "calls", 2), ("0.2.0-memory", "calls", 2), ("version-1", "calls", 2),
        ] {
            // Whoever reads a session may keep something beside it.
            let session = directory.file(String(name.split(separator: "/")[0]))
            #expect(try run("cp", ["-r", "\(kept)/\(name)", session]).status == 0)
            let server = try ViewServer(session, in: directory)
            let told = try server.get("session").body
            #expect(try jq(".content, (.tracks | length)", told) == "\(content)\n\(tracks)", "\(name)")
            #expect(
                try jq(".waits, (.tracks[0].blocked != null)", told)
                    == (name == "0.2.0-waits" ? "true\ntrue" : "false\nfalse"))
            #expect(try jq(".memory", told) == "\(name == "0.2.0-memory")", "\(name)")
            let events = events(of: server)
            #expect(try jq(".tracks | length", events.body) == "\(tracks)", "\(name)")
            #expect(try server.get("ask/info").status == 200)
            server.process.signal(SIGTERM)
            #expect(server.process.wait() == 0, "\(name)")
        }
    }

    /// Marks and counters, each in the track of its thread.
    @Test func events() throws {
        let source = """
            #include <fathom.h>
            #include <pthread.h>
            void set(int n) { fathom_set_counter("n", n); }
            void *work(void *none) { for (int i = 0; i < 40000; i++) set(i == 12345 ? -7 : i % 5); return none; }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, 0, work, 0);
                pthread_join(thread, 0);
                for (int i = 0; i < 3; i++) { set(i); fathom_mark(i ? "more" : "first"); }
            }

            """
        let file = try directory.write(source, to: "marks.c"), program = directory.file("marks")
        let flags = ["-g", "-finstrument-functions", "-pthread", "-I\(Binaries.repository)/Sources/CFathom/include"]
        let compiled = try run("gcc", flags + ["-o", program, file])
        try #require(compiled.status == 0, "\(compiled.stderr)")
        let recording = directory.file("marks.fathom")
        try #require(try Fathom.record([program], into: recording).status == 0)
        let server = try ViewServer(recording, in: directory)
        let events = events(of: server)
        #expect(try jq(".tracks[0].marks | map(.[1])", events.body) == #"["first","more","more"]"#)
        #expect(
            try jq(#".tracks[0].counters | map([.name, (.points | map(.[1]))]) == [["n", [0, 1, 2]]]"#, events.body)
                == "true")
        let worker = ".tracks[1].counters[0]"
        #expect(try jq("\(worker) | .leftOut + (.points | length)", events.body) == "40000")
        #expect(try jq("\(worker).points | [map(.[1]) | min, max] == [-7, 4]", events.body) == "true")
        #expect(
            try jq("\(worker).points | (map(.[0]) == (map(.[0]) | sort)) and length < 20000", events.body) == "true")
    }

    /// Of who is no page of its own, and of who lacks the token, nothing is answered.
    @Test func strangers() throws {
        let server = try view()
        for host in ["evil.example", "evil.example:\(server.port)", "127.0.0.1", "[::1]:\(server.port)"] {
            for target in ["", "session", "/", "nothing"] {
                let reply = try server.get(target, host: host)
                #expect(reply.status == 403 && reply.body.isEmpty, "\(host) \(target): \(reply)")
            }
        }
        #expect(try server.get("session", host: "localhost:\(server.port)").status == 200)
        for header in [
            "Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
        ] {
            let reply = try server.get("session", [header])
            #expect(reply.status == 403 && reply.body.isEmpty, "\(header)")
        }
        #expect(
            try server.get("session", ["Origin: http://127.0.0.1:\(server.port)", "Sec-Fetch-Site: same-origin"]).status
                == 200)
        let token = server.root.dropFirst().dropLast()
        for target in [
            "/", "/session", "/\(token)", "/\(token)x/", "/\(token.dropLast())/session",
            "/\(token.lowercased())-/session",
            "//\(token)/", "/favicon.ico", "/../\(token)/", "/etc/passwd", "/x/..\(server.root)session",
        ] {
            let reply = try server.get(target)
            #expect(reply.status == 404 && reply.body.isEmpty, "\(target)")
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"] {
            #expect(try server.get("session", method: method).status == 405, "\(method)")
        }
        #expect(try server.get("session", ["Content-Length: 4"]).status == 413)
        #expect(try server.get("session", ["Transfer-Encoding: chunked"]).status == 413)
        // Only this machine reaches it.
        let listening = try run("cat", ["/proc/\(server.process.pid)/net/tcp", "/proc/\(server.process.pid)/net/tcp6"])
            .stdout
        let digits = String(server.port, radix: 16, uppercase: true)
        let port = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        let places = listening.split(separator: "\n").compactMap { line -> Substring? in
            let words = line.split(separator: " ")
            return words.count > 3 && words[1].hasSuffix(port) && words[3] == "0A" ? words[1] : nil
        }
        #expect(places == ["0100007F\(port)"])
    }

    /// Whatever is sent, the server goes on, and nothing of it stays open.
    @Test func malformed() throws {
        let server = try view()
        #expect(try server.get("session").status == 200)
        let before = server.descriptors
        var generator = SeededGenerator(seed: 36)
        let good = Array(server.request("session").utf8)
        for round in 0..<1000 {
            let connection = try server.connect()
            switch round % 8 {
            case 0: connection.send((0..<generator.below(3000)).map { _ in UInt8(generator.below(256)) })
            case 1: connection.send(Array(good.prefix(generator.below(good.count))))
            case 2:
                var bytes = good
                for _ in 0...generator.below(4) { bytes[generator.below(bytes.count)] = UInt8(generator.below(256)) }
                connection.send(bytes)
            case 3:
                let size = 1 << generator.below(20)
                connection.send(server.request("session", ["X: " + String(repeating: "x", count: size)]))
            case 4:
                let length = ["-1", "99999999999999999999", "x", "12", "0x10", "1, 2", ""][generator.below(7)]
                connection.send(server.request("session", ["Content-Length: \(length)", "Content-Length: 3"]) + "abc")
            case 5: connection.send(Array(repeating: good, count: 1 + generator.below(20)).flatMap(\.self))
            case 6:
                let pieces = [
                    "%", "%00", "%ff", "&", "=", "?", "o=", "ask/", "picture", "tracks=", "-", "..", "/", "a", "\u{e4}",
                ]
                let target = (0..<generator.below(30)).map { _ in pieces[generator.below(pieces.count)] }.joined()
                connection.send(server.request(server.root + target))
            default:
                connection.send(
                    "GET /" + String(repeating: "a", count: generator.below(1 << 17))
                        + " HTTP/\(generator.below(4)).1\r\n\r\n")
            }
            // Some leave without a word.
            if round % 3 > 0 {
                connection.finish()
                _ = connection.rest()
            }
        }
        #expect(try server.get("session").status == 200)
        #expect(
            waitUntil { server.children.isEmpty && server.descriptors <= before }, "\(server.descriptors), \(before)")
        server.process.signal(SIGTERM)
        #expect(server.process.wait() == 0)
    }

    /// Who sends a byte and then nothing keeps nobody else waiting.
    @Test func slow() throws {
        let server = try view()
        let waiting = try (0..<20).map { index in
            let connection = try server.connect()
            connection.send(String(server.request("session").prefix(index * 3)))
            return connection
        }
        #expect(try server.get("session").status == 200)
        server.process.signal(SIGINT)
        #expect(server.process.wait() == 0)
        #expect(waiting.allSatisfy { $0.rest().isEmpty })
    }

    /// A library that makes questions wait for as long as there is a file, by its path.
    private func blocker(_ file: String) throws -> String {
        let source = """
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>
            __attribute__((constructor)) static void wait_for_file(int count, char **words) {
                if (count > 1 && !strcmp(words[0], "fathom") && strcmp(words[1], "view"))
                    while (!access("\(file)", F_OK)) usleep(1000);
            }

            """
        let library = directory.file("blocker.so")
        let made = try run("gcc", ["-shared", "-fPIC", "-o", library, directory.write(source, to: "blocker.c")])
        try #require(made.status == 0, "\(made.stderr)")
        return library
    }

    @Test func questions() throws {
        let file = directory.file("block")
        let server = try view(environment: ["LD_PRELOAD": blocker(file)])
        #expect(try server.get("session").status == 200)
        let wrong = try server.get("ask/report?o=--sort&o=nothing")
        #expect(try wrong.status == 422 && (jq(".status", wrong.body)) == "64")
        #expect(try jq(".error", wrong.body).contains("--sort"))
        let none = try server.get("ask/report?o=-F&o=nosuchname")
        #expect(try none.status == 422 && (jq(".error", none.body)) == "no function matches 'nosuchname'")

        _ = try directory.write("", to: "block")
        func ask(_ target: String) throws -> ViewServer.Connection {
            let connection = try server.connect()
            connection.send(server.request(target, ["Connection: close"]))
            return connection
        }
        var first: ViewServer.Connection? = try ask("ask/info?pane=a")
        #expect(waitUntil { server.children.count == 1 })
        let process = server.children
        // The same pane asks again.
        let second = try ask("ask/info?pane=a&o=--modules")
        #expect(ViewServer.reply(try #require(first).rest()).status == 409)
        #expect(waitUntil { server.children.count == 1 && server.children != process })
        // Two are answered at once, and the third when there is room.
        first = try ask("ask/report")
        #expect(waitUntil { server.children.count == 2 })
        let both = Set(server.children)
        let third = try ask("ask/tree")
        #expect(try server.get("session").status == 200)
        #expect(Set(server.children) == both)
        // Who leaves is not answered.
        first = nil
        #expect(waitUntil { server.children.count == 2 && Set(server.children) != both })
        let left = server.children
        server.process.signal(SIGTERM)
        #expect(server.process.wait() == 0)
        #expect(left.allSatisfy { kill($0, 0) != 0 && errno == ESRCH })
        // The connections end, with or without a word of that.
        for connection in [second, third] { #expect([0, 503].contains(ViewServer.reply(connection.rest()).status)) }
    }

    /// All that pages may say is there to be said.
    @Test func options() throws {
        let server = try view()
        let filters =
            "-D 3 -t 1ns -F main -N none* -C main -H none* -L *.c -Z 1 -T main@trace --from 0s --to 9s --raw-names --thread main"
        for line in [
            "report \(filters) --process * --sort self --by function --limit 3 --raw", "report -r 0s~9s --callers main",
            "report --callees main", "tree \(filters) --watch main --relative-depth 1 --complete --limit 3",
            "tree --sort time --limit 3 --no-fold --lines --call-sites",
            "graph \(filters) --threshold 1 --limit 3 --raw main",
            "tail --slowest 1 --threshold 1 --limit 3 --from 0s main", "flame \(filters) --colour file --inverted",
            "flame --time-order", "info --modules", "info --check", "info --tree -t 1ns --limit 3 --no-fold",
            "dump --chunks --thread main",
        ] {
            let words = line.split(separator: " ").map { word in
                word.replacing("*", with: "%2a").replacing("~", with: "%7e")
            }
            let reply = try server.get("ask/\(words[0])?" + words.dropFirst().map { "o=\($0)" }.joined(separator: "&"))
            // That nothing is left to show is an answer, too.
            let isEmpty = try reply.status == 422 && jq(".status", reply.body) == "1"
            #expect(reply.status == 200 || isEmpty, "\(line): \(reply.body.prefix(300))")
            if reply.status == 200 { #expect(try jq(".answer | length > 0", reply.body) == "true", "\(line)") }
        }
        for line in [
            "report --corrected", "report --times all", "report --by-arg main:x",
            "waits -t 1ns --longest 3 --limit 3 --thread main",
            "chain --call main --without main --limit 3", "chain --from 0s --to 1s", "tree --memory all",
            "tree --faults all",
            "flame --memory bytes", "flame --faults minor", "flame --time cpu", "graph --time cpu", "tree --times all",
            "graph --corrected",
        ] {
            let words = line.split(separator: " ")
            let reply = try server.get("ask/\(words[0])?" + words.dropFirst().map { "o=\($0)" }.joined(separator: "&"))
            // The recording lacks it, and not the command line.
            #expect(
                try reply.status == 200 || jq(".status", reply.body) != "64", "\(line): \(reply.body.prefix(300))")
        }
    }

    /// What filters say of functions, by the patterns that the terminal takes.
    @Test func filters() throws {
        let server = try view()
        _ = try server.get("picture?from=0&to=100000000000&width=900&tracks=0&rows=0-20")
        let names = try jq(".names", server.get("names?from=0").body)
        func marked(_ mark: Int, _ words: [String]) throws -> String {
            let reply = try server.get("filter?from=0&" + words.map { "o=\($0)" }.joined(separator: "&"))
            try #require(reply.status == 200, "\(reply.body)")
            return try jq(
                "[.[1] as $names | .[0].marks | to_entries[] | select(.value % \(2 * mark) >= \(mark)) | $names[.key]] | sort",
                "[\(reply.body),\(names)]")
        }
        #expect(try marked(1, ["-F", "main"]) == #"["main"]"#)
        #expect(try marked(2, ["-N", "parse*"]) == jq("map(select(startswith(\"parse\"))) | sort", names))
        #expect(try marked(8, ["-H", "main"]) == #"["main"]"#)
        #expect(
            try jq(
                ".minCost, .maxDepth, .hasOnly, .leads",
                server.get("filter?from=0&o=-t&o=2us&o=-D&o=3&o=-C&o=main").body)
                == "2000\n3\nfalse\ntrue")
        for bad in ["o=--sort&o=calls", "o=-t&o=soon", "o=word", ""] {
            #expect(
                [400, 503].contains(try server.get("filter?\(bad.isEmpty ? "" : "from=0&")\(bad)").status), "\(bad)")
        }
    }

    /// A recording that goes on: calls become more while one looks, tracks and functions keep their numbers, and there is an end.
    @Test func growing() throws {
        let source = """
            #include <pthread.h>
            #include <stdio.h>
            #include <unistd.h>
            __attribute__((noinline)) int inner(int n) { return n * 3; }
            __attribute__((noinline)) int work(int n) { int sum = 0; for (int i = 0; i < 200; i++) sum += inner(i + n); return sum; }
            static void *late(void *seen) { for (int i = 0; i < 50; i++) { work(i); usleep(1000); } return seen; }
            int main(void) {
                int more, rounds = 0;
                do {
                    for (int i = 0; i < 100; i++) work(i);
                    if (++rounds == 2) {
                        pthread_t thread;
                        pthread_create(&thread, 0, late, 0);
                        pthread_join(thread, 0);
                    }
                    puts("ready");
                    fflush(stdout);
                } while ((more = getchar()) != EOF);
                return 0;
            }
            """
        let program = directory.file("grows")
        let made = try run(
            "gcc", ["-O1", "-finstrument-functions", "-pthread", "-o", program, directory.write(source, to: "grows.c")])
        try #require(made.status == 0, "\(made.stderr)")
        let fifo = directory.file("fifo"), live = directory.file("live.fathom"), output = directory.file("ready")
        try #require(mkfifo(fifo, 0o600) == 0)
        let recording = try BackgroundProcess(
            [
                "sh", "-c", #"exec "$0" record -q -o "$1" -- "$2" <"$3" >"$4""#, Fathom.executable, live, program, fifo,
                output,
            ])
        let input = open(fifo, O_WRONLY | O_CLOEXEC)
        func rounds() -> Int { (try? readFile(output)).map { $0.count { $0 == UInt8(ascii: "\n") } } ?? 0 }
        try #require(waitUntil(seconds: 60) { rounds() == 1 })
        let server = try ViewServer(live, in: directory)
        let first = try server.get("session").body
        #expect(try jq(".isRecording, (.tracks | length)", first) == "true\n1")
        let end = try jq(".end", first)
        let before = try server.get("picture?from=0&to=\(end)&width=900&tracks=0&rows=0-3")
        #expect(before.status == 200)
        let names = try jq(".names", server.get("names?from=0").body)
        #expect(names.contains("\"main\""))
        try #require(write(input, "x", 1) == 1 && waitUntil(seconds: 60) { rounds() == 2 })
        var next = ""
        #expect(
            waitUntil(seconds: 60) {
                next = (try? server.get("session").body) ?? ""
                return (try? jq("[.tracks[].calls] | length == 2 and .[0] > 40000 and .[1] > 10000", next)) == "true"
            })
        let more = try server.get("picture?from=0&to=\(try jq(".end", next))&width=900&tracks=0,1&rows=0-3")
        #expect(more.status == 200)
        let now = try jq(".names", server.get("names?from=0").body)
        #expect(now.hasPrefix(names.dropLast()) && now.contains("\"late\""))
        close(input)
        #expect(recording.wait() == 0)
        #expect(
            waitUntil(seconds: 60) { (try? jq(".isRecording", server.get("session").body)) == "false" })
        // What report tells then is what is told here.
        let report = try run(Fathom.executable, ["report", live, "--format", "json"]).stdout
        let told = try server.get("session").body
        #expect(try jq("[.tracks[].calls] | add", told) == jq("[.functions[].calls] | add", report))
    }

    /// What is deleted while it is viewed cannot be asked for any more, and the page goes on.
    @Test func deleted() throws {
        let server = try view()
        #expect(try server.get("session").status == 200)
        try run("rm", ["-rf", session])
        #expect(try server.get("session").status == 200)
        let reply = try server.get("ask/report")
        #expect(try reply.status == 422 && (jq(".error", reply.body)).contains("session.fathom"), "\(reply)")
        #expect(try server.get("").status == 200)
    }

    @Test func ports() throws {
        let server = try view(), other = try view()
        #expect(server.port != other.port && server.root != other.root)
        #expect(try server.get("session").status == 200 && other.get("session").status == 200)
        #expect(try server.get(other.root).status == 404)
        let refused = try Fathom.run(["view", session, "--port", "\(server.port)", "--no-browser"])
        #expect(refused.status == 2 && refused.stdout.isEmpty)
        #expect(
            refused.stderr
                == "fathom: error: port \(server.port) of 127.0.0.1 cannot be taken: Address already in use\n")
        // The port can be taken again at once.
        server.process.signal(SIGTERM)
        #expect(server.process.wait() == 0)
        let next = try view(["--no-browser", "--port", "\(server.port)"])
        #expect(next.port == server.port)
        #expect(try next.get("session").status == 200 && next.get("\(server.root)session").status == 404)
    }

    /// The browser gets an address that is good for one visit, because others can read how it was called.
    @Test func browser() throws {
        _ = try directory.write("#!/bin/sh\necho \"$1\" >\"$0.part\" && mv \"$0.part\" \"$0.opened\"\n", to: "browser")
        try run("chmod", ["+x", directory.file("browser")])
        let server = try view([], environment: ["BROWSER": directory.file("browser")])
        let opened = directory.file("browser.opened")
        try #require(waitUntil { access(opened, F_OK) == 0 })
        let address = String(decoding: try readFile(opened), as: UTF8.self).dropLast()
        #expect(!address.contains(server.root))
        let path = "/" + address.split(separator: "/")[2] + "/"
        #expect(try server.get(path, method: "HEAD").status == 404)
        #expect(try server.get(path, host: "evil.example").status == 403)
        if Privilege.isRoot {
            // Another user of the machine who has read it does not get in, and does not take it away.
            let script =
                #"exec 3<>/dev/tcp/127.0.0.1/$0; printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$1" "$0" >&3; head -n 1 <&3"#
            let other = try run(
                "setpriv", ["--reuid", "65534", "--clear-groups", "bash", "-c", script, "\(server.port)", path])
            #expect(other.stdout.contains(" 404 "), "\(other.stdout) \(other.stderr)")
        }
        let visit = try server.get(path)
        #expect(visit.status == 303 && visit.head.contains("\nLocation: \(server.root)\n"), "\(visit)")
        #expect(try server.get(path).status == 404)
    }

    @Test func library() throws {
        _ = try directory.write("This is no library.", to: "libmicrohttpd.so.12")
        let result = try Fathom.run(["view", session], environment: ["LD_LIBRARY_PATH": directory.path])
        #expect(result.status == 2 && result.stderr.split(separator: "\n").count == 1)
        #expect(result.stderr.contains("libmicrohttpd12"), "\(result.stderr)")
    }
}
