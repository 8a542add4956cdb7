import TestSupport
import Testing

/// Where calls are made, and the source files that tell: `fathom report --by line`, and the viewer's route `source`.
@Suite struct SourceLineTests {
    private let directory: TemporaryDirectory
    private let session: String

    static let program = """
        static int leaf(int n) { return n + 1; }
        static int both(int n) {
            int sum = leaf(n);
            for (int i = 0; i < 3; i++) sum += leaf(i);
            return sum;
        }
        static int down(int n) {
            return n ? down(n - 1) : leaf(n);
        }
        int main(void) {
            int all = down(5);
            for (int i = 0; i < 10; i++) all += both(i);
            return all < 0;
        }

        """

    init() throws {
        directory = try TemporaryDirectory("source-line")
        session = try Self.record(Self.program, in: directory)
    }

    /// Records `program`, compiled from `lines.c` in `directory`.
    static func record(_ program: String, in directory: TemporaryDirectory, named name: String = "lines") throws
        -> String
    {
        let file = try directory.write(program, to: "\(name).c"), binary = directory.file(name)
        let compiled = try run("gcc", ["-g", "-O0", "-finstrument-functions", "-o", binary, file])
        try #require(compiled.status == 0, "\(compiled.stderr)")
        let session = directory.file("\(name).fathom")
        try #require(try Fathom.record([binary], into: session, options: ["--quiet", "--no-blocked"]).status == 0)
        return session
    }

    /// The lines at which calls are made, and how many.
    private func lines(_ options: [String] = []) throws -> String {
        try jq("[.lines[] | select(.line) | [.line, .calls]] | sort", ["report", session, "--by", "line"] + options)
    }

    @Test func callsByLine() throws {
        #expect(try lines() == "[[3,10],[4,30],[8,6],[11,1],[12,10]]")
        let all = try jq("[.functions[] | {key: .name, value: .total_ns}] | from_entries", ["report", session])
        let totals = try jq(
            "[.lines[] | {key: \"\\(.line)\", value: .total_ns}] | from_entries", ["report", session, "--by", "line"])
        func number(_ filter: String, _ document: String) throws -> Int {
            try #require(Int(try run("jq", [filter], input: document).stdout.dropLast()))
        }
        #expect(try number(".[\"12\"]", totals) == number(".both", all))
        #expect(try number(".[\"11\"]", totals) == number(".down", all))
        // A call within one that the same line made is part of that one.
        #expect(try number(".[\"8\"]", totals) < number(".down", all))
        let file = try jq("[.lines[] | .file] | unique", ["report", session, "--by", "line"])
        #expect(file == "[null,\"\(directory.file("lines.c"))\"]")
        let text = try Fathom.run(["report", session, "--by", "line", "--sort", "calls"])
        #expect(
            text.status == 0 && text.stdout.contains("line of calls") && text.stdout.contains("lines.c:4\n"), "\(text)")
    }

    @Test func filtersHold() throws {
        #expect(try lines(["-N", "leaf"]) == "[[8,5],[11,1],[12,10]]")
        #expect(try lines(["-F", "both"]) == "[[3,10],[4,30],[12,10]]")
        #expect(try lines(["-D", "1"]) == "[[11,1],[12,10]]")
        #expect(try lines(["-H", "both"]) == "[[3,10],[4,30],[8,6],[11,1]]")
    }

    /// Of a stretch of time, as many as the tree shows.
    @Test func stretchesHold() throws {
        let bounds = try jq("[.processes[].threads[].roots[] | .start_ns, .start_ns + .total_ns]", ["tree", session])
            .dropFirst().dropLast().split(separator: ",").compactMap { Int($0) }
        try #require(bounds.count == 2)
        let quarter = (bounds[1] - bounds[0]) / 4
        let stretch = ["--from", "\(bounds[0] + quarter)ns", "--to", "\(bounds[1] - quarter)ns"]
        let tree = try Fathom.run(["tree", session, "--call-sites", "--no-fold"] + stretch).stdout
        var counts: [Int: Int] = [:]
        for line in tree.split(separator: "\n") {
            guard let place = line.firstRange(of: "lines.c:")?.upperBound, let number = Int(line[place...]) else {
                continue
            }
            counts[number, default: 0] += 1
        }
        #expect(counts.count > 1)
        #expect(
            try lines(stretch) == "[" + counts.sorted { $0.key < $1.key }.map { "[\($0),\($1)]" }.joined(separator: ",")
                + "]")
    }

    @Test func onlySingleCallsTellWhereTheyWereMade() throws {
        let profile = directory.file("profile.fathom")
        try #require(
            try Fathom.record([directory.file("lines")], into: profile, options: ["--quiet", "--mode", "profile"])
                .status == 0)
        let told = try Fathom.run(["report", profile, "--by", "line"])
        #expect(told.status != 0 && told.stderr.contains("--by line shows where single calls were made"), "\(told)")
    }

    /// What jq says of a document.
    private func field(_ filter: String, _ document: String) throws -> String {
        String(try run("jq", ["-r", filter], input: document).stdout.dropLast())
    }

    /// Only files that the session tells of are read, whatever is asked for.
    @Test func theRouteKnowsTheSessionsFilesAlone() throws {
        let file = directory.file("lines.c"), server = try ViewServer(session, in: directory)
        func get(_ path: String) throws -> ViewServer.Reply {
            try server.get(
                "source?file=" + path.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
        let found = try get(file)
        #expect(try found.status == 200 && field(".text", found.body) == Self.program)
        #expect(try field(".held, .changed", found.body) == "false\nfalse")
        let secret = try directory.write("secret", to: "other.c")
        for path in [
            "/etc/passwd", secret, "lines.c", "", "/", ".", "..", "\(session)/trace", directory.file("x/../lines.c"),
            directory.file("./lines.c"), file + "/", file + "\n", "/proc/self/environ", "file://\(file)",
        ] {
            let reply = try get(path)
            #expect(reply.status == 404 && !reply.body.contains("secret"), "\(path): \(reply)")
        }
        for target in [
            "source", "source?file=a&file=b", "source?path=\(file)", "source?file=\(file)&x=y", "source?file=%00",
        ] {
            #expect(try server.get(target).status == 400, "\(target)")
        }
        #expect(try server.get("source/\(file)").status == 404)
        #expect(try server.get("before/source?file=\(file)").status == 404)

        _ = try directory.write(Self.program + "// more\n", to: "lines.c")
        #expect(try field(".changed", get(file).body) == "true")
        #expect(try run("rm", [file]).status == 0)
        let gone = try get(file)
        #expect(
            try gone.status == 200
                && field(".problem", gone.body).contains("No such file or directory; fathom pack --sources"),
            "\(gone)")
        // What is in its place now is no plain file.
        #expect(try run("mkfifo", [file]).status == 0)
        #expect(try field(".problem", get(file).body).contains("not a plain file"))
    }

    /// What is packed is shown as it was.
    @Test func packedSources() throws {
        #expect(try Fathom.run(["pack", "--sources", session, "-o", directory.file("lines.fathomz")]).status == 0)
        let file = directory.file("lines.c")
        #expect(try run("rm", [file]).status == 0)
        let server = try ViewServer(directory.file("lines.fathomz"), in: directory)
        let found = try server.get("source?file=\(file)")
        #expect(try found.status == 200 && field(".text", found.body) == Self.program)
        #expect(try field(".held, .changed", found.body) == "true\nfalse")
    }
}
