import TestSupport
import Testing

/// The viewer's panes of source files and of memory: what they show is what `report` tells.
@Suite struct ViewerPanesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("panes") }

    private static let isThere = "wait paneOf('source').calls && paneOf('source').grid.rows.length > 0"
    private static let defined =
        "paneOf('source').grid.rows.filter(row => row.functions.length).map(row => [row.number, row.calls, row.total_ns, row.self_ns])"
    private static let made =
        "paneOf('source').grid.rows.filter(row => row.made).map(row => [row.number, row.made, row.spent_ns])"
    private static let reported = "[.functions[] | select(.file) | [.line, .calls, .total_ns, .self_ns]] | sort"
    private static let lines = "[.lines[] | select(.line) | [.line, .calls, .total_ns]] | sort"

    /// Of the whole time, of a stretch and of a filter.
    @Test func sourceIsThatOfReport() throws {
        let session = try SourceLineTests.record(SourceLineTests.program, in: directory)
        let server = try ViewServer(session, in: directory)
        let whole = try server.page(
            "#pane=source",
            [
                Self.isThere, Self.defined, Self.made, "[session.begin, session.end]",
                "paneOf('source').grid.rows[2].text",
                "paneOf('source').file",
            ])
        #expect(try compact(whole[0]) == jq(Self.reported, ["report", session]))
        #expect(try compact(whole[1]) == jq(Self.lines, ["report", session, "--by", "line"]))
        #expect(whole[3] == #""    int sum = leaf(n);""# && whole[4].hasSuffix("/lines.c\""), "\(whole)")
        let bounds = whole[2].filter { !"[] ".contains($0) }.split(separator: ",").compactMap { UInt64($0) }
        try #require(bounds.count == 2)
        let from = bounds[0] + 2_000, to = bounds[1]  // main takes longer, and the thread goes on after it
        for (hash, options) in [
            ("#range=\(from)-\(to)&pane=source", ["--clip", "--from", "\(from)ns", "--to", "\(to)ns"]),
            ("#o=-N&o=leaf&pane=source", ["-N", "leaf"]),
        ] {
            let found = try server.page(hash, [Self.isThere, Self.defined, Self.made])
            #expect(try compact(found[0]) == jq(Self.reported, ["report", session] + options))
            #expect(try compact(found[1]) == jq(Self.lines, ["report", session, "--by", "line"] + options))
        }
    }

    /// The call with an argument is found by what people type, is selected, and is on the timeline; names of functions have room.
    @Test func callsWithArguments() throws {
        let source = try directory.write(
            """
            static volatile int sum;
            void leaf(int n) { for (int i = 0; i < n; i++) sum += i; }
            void request(int id, const char *word) { leaf(id % 13); sum += *word; }
            void serve(int n) { request(n, n % 2 ? "odd" : "even"); }
            int main(void) { for (int i = 0; i < 400; i++) serve(i * 7 % 400); }

            """, to: "program.c")
        let program = directory.file("program"), session = directory.file("program.fathom")
        try #require(try Fathom.run(["build", "--", "gcc", "-O1", "-g", source, "-o", program]).status == 0)
        let options = ["--quiet", "--args", "request"]
        try #require(try Fathom.record([program], into: session, options: options).status == 0)
        let server = try ViewServer(session, in: directory)
        let found = try server.page(
            "",
            [
                "size 1600x1000", "wait paneOf('functions').grid?.shown.length > 0",
                "wait paneOf('functions').grid.heads.firstChild.offsetWidth > 100", "do openPrompt()",
                "type request(id=21)", "key Enter",
                "wait selection.call && element('status').textContent.includes('id=21')",
                "selection.call.row", "paneOf('durations').calls.shown.length",
                "selection.call.end > selection.from && selection.call.begin < selection.to",
                "do openPrompt()", "type word=odd", "key Enter",
                "wait paneOf('durations').caption.textContent.endsWith('word==\"odd\"')",
                "paneOf('durations').calls.shown.every(row => row.values.includes('odd'))",
                "paneOf('durations').calls.shown.length",
            ])
        #expect(found == ["2", "1", "true", "true", "100"])
    }

    private static func line(_ number: Int) -> String {
        "[...document.querySelectorAll('#pane-source tbody tr[data-at]')].find(line => line.dataset.at === '\(number - 1)')"
    }

    /// A click on a function's line selects it, and a function that is selected elsewhere is shown; by keys as well.
    @Test func sourceFollowsTheSelection() throws {
        let padding = String(repeating: "// another line\n", count: 250_000)
        let session = try SourceLineTests.record(padding + SourceLineTests.program, in: directory)
        let server = try ViewServer(session, in: directory)
        let found = try server.page(
            "#pane=source",
            [
                "still", Self.isThere, "paneOf('source').grid.rows.length", "do choose({ name: 'both' }, true)",
                "wait \(Self.line(250_002))?.getAttribute('aria-selected') === 'true'",
                "document.querySelectorAll('#pane-source tbody tr').length < 200",
                "\(Self.line(250_002)).textContent.includes('both(int n)')", "click \(Self.line(250_007))",
                "wait selection.name === 'down'", "location.hash.includes('function=down')",
                "\(Self.line(250_007)).getAttribute('aria-selected')",
                "do \(Self.line(250_007)).focus()", "key ArrowDown", "document.activeElement.dataset.at",
                "key ArrowDown",
                "key ArrowDown", "key Enter", "wait selection.name === 'main'", "back",
                "wait selection.name === 'down'",
                "do choose({ filters: ['-N', 'down'] }, true)",
                "wait paneOf('source').grid.rows[250006].functions.length === 0 && paneOf('source').calls",
                "paneOf('source').grid.rows[250001].calls",
                "click document.querySelector('#pane-source input')", "type main(void)",
                "wait paneOf('source').grid.shown.length === 1", "paneOf('source').grid.shown[0].number",
            ])
        #expect(
            found == [
                "250014", "true", "true", "true", "\"true\"", "\"250007\"", "10", "250010",
            ], "\(found)")
    }

    /// Where the file is not there any more, or is another one, the pane says so, and shows what is known.
    @Test func missingSources() throws {
        let session = try SourceLineTests.record(SourceLineTests.program, in: directory)
        let server = try ViewServer(session, in: directory)
        _ = try directory.write("// first\n" + SourceLineTests.program, to: "lines.c")
        let changed = try server.page("#pane=source", [Self.isThere, "paneOf('source').told.textContent"])
        #expect(changed[0].contains("Changed since it was recorded"), "\(changed)")
        try run("rm", [directory.file("lines.c")])
        let gone = try server.page(
            "#pane=source",
            [
                Self.isThere, "paneOf('source').told.textContent", "paneOf('source').grid.rows.map(row => row.number)",
                "click document.querySelector('#pane-source tbody tr[data-at=\"0\"]')",
                "wait selection.name === 'leaf'",
            ])
        #expect(gone[0].contains("No such file or directory") && gone[1] == "[1, 2, 3, 4, 7, 8, 10, 11, 12]", "\(gone)")
    }

    private static let memory =
        "paneOf('memory').grid.rows.map(row => [row.name, ...['allocations', 'allocated_bytes', 'own_allocated_bytes', 'live_bytes', "
        + "'own_live_bytes', 'live_blocks'].map(key => row.after[key])]).sort()"
    private static let reportedMemory =
        "[.functions[] | select(.allocations > 0) | [.name, .allocations, .allocated_bytes, .own_allocated_bytes, .live_bytes, "
        + ".own_live_bytes, .live_blocks]] | sort"

    @Test func memoryIsThatOfReport() throws {
        let session = directory.file("memory.fathom")
        let program = try Binaries.instrumented("memory.c", .gccO2)
        try #require(try Fathom.record([program], into: session, options: ["--quiet", "--memory"]).status == 0)
        let server = try ViewServer(session, in: directory), isThere = "wait paneOf('memory').grid?.rows.length > 0"
        let whole = try server.page(
            "#pane=memory",
            [
                isThere, Self.memory, "[session.begin, session.end]",
                "paneOf('memory').grid.shown.map(row => row.after.own_live_bytes)",
                "paneOf('memory').grid.shown.every(row => row.after.freed_bytes === row.after.own_allocated_bytes - row.after.own_live_bytes)",
                "click document.querySelector('#pane-memory tbody tr[data-at=\"0\"]')",
                "wait selection.name === paneOf('memory').grid.shown[0].name",
                "click document.querySelector('#pane-memory thead th:nth-child(2) button')",
                "wait paneOf('memory').grid.sort === 'after calls'",
            ])
        #expect(try compact(whole[0]) == jq(Self.reportedMemory, ["report", session]))
        let live = whole[2].filter { !"[] ".contains($0) }.split(separator: ",").compactMap { Int($0) }
        #expect(live.count > 3 && live == live.sorted(by: >) && whole[3] == "true", "\(whole)")
        let bounds = whole[1].filter { !"[] ".contains($0) }.split(separator: ",").compactMap { UInt64($0) }
        try #require(bounds.count == 2)
        let to = bounds[0] + (bounds[1] - bounds[0]) / 2
        for (hash, options) in [
            ("#range=\(bounds[0])-\(to)&pane=memory", ["--from", "\(bounds[0])ns", "--to", "\(to)ns"]),
            ("#o=-D&o=2&pane=memory", ["-D", "2"]),
        ] {
            let found = try server.page(hash, [isThere, Self.memory])
            #expect(try compact(found[0]) == jq(Self.reportedMemory, ["report", session] + options))
        }
    }

    @Test func memoryIsOnlyThereWhereItWasRecorded() throws {
        let server = try ViewServer(try DrawnRecording().session, in: directory)
        let found = try server.page("#pane=memory", ["panes.all.map(pane => pane.key)", "panes.shown.key"])
        #expect(found == [#"["flame", "functions", "tree", "durations", "source", "info"]"#, #""flame""#], "\(found)")
    }
}
