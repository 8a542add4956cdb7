import TestSupport
import Testing

/// `fathom view BEFORE AFTER`: each pane tells the difference, as `diff` does.
@Suite struct ViewerComparisonTests {
    private let directory: TemporaryDirectory
    private let server: ViewServer
    private let before: String
    private let after: String

    /// Recordings of two builds of a program, made once a test run.
    private static let recordings = Result {
        let path = try Fathom.sharedDirectory("ViewedDiff")
        for (name, flags) in [("before", []), ("after", ["-DCHANGED"])] {
            let binary = try Binaries.instrumented(
                "changed.c", .gccO2, flags: flags, variant: flags.isEmpty ? "" : "-changed")
            try #require(
                try Fathom.record([binary], into: "\(path)/\(name).fathom", options: ["--quiet", "--no-blocked"]).status
                    == 0)
        }
        return path
    }

    init() throws {
        directory = try TemporaryDirectory("viewer-comparison")
        let path = try Self.recordings.get()
        (before, after) = ("\(path)/before.fathom", "\(path)/after.fathom")
        server = try ViewServer(before, in: directory, [after, "--no-browser"])
    }

    private static let isThere = "wait paneOf('functions').grid?.rows.length > 0"
    private static let numbers =
        "['calls_before', 'calls', 'calls_change', 'total_before', 'total_ns', 'total_change', 'self_before', 'self_ns', 'self_change']"
        + ".map(key => row[key])"
    private static let rows = "paneOf('functions').grid.rows.map(row => [row.name, ...\(numbers)]).sort()"
    private static let told =
        ".calls.before, .calls.after, .calls.change, .total_ns.before, .total_ns.after, .total_ns.change, "
        + ".self_ns.before, .self_ns.after, .self_ns.change"
    private static let toldFunctions = "[.functions[] | [.name, \(told)]] | sort"

    /// Of the whole time, of a stretch and of a filter.
    @Test func functionsAreThoseOfDiff() throws {
        let whole = try server.page(
            "#pane=functions", [Self.isThere, Self.rows, "session.begin", "session.end"])
        let all = ["diff", "--all", "--limit", "0", before, after]
        #expect(try compact(whole[0]) == jq(Self.toldFunctions, all))
        #expect(whole[0].contains("\"added\"") && whole[0].contains("\"removed\""), "\(whole)")
        // After the first two microseconds of what is after, and wherever that is in what is before.
        let from = try #require(UInt64(whole[1])) + 2_000, to = try #require(UInt64(whole[2]))
        for (hash, options) in [
            ("#range=\(from)-\(to)&pane=functions", ["--from", "\(from)ns", "--to", "\(to)ns"]),
            ("#o=-N&o=steady&pane=functions", ["-N", "steady"]),
        ] {
            let found = try server.page(hash, [Self.isThere, Self.rows])
            #expect(try compact(found[0]) == jq(Self.toldFunctions, all + options))
        }
    }

    /// Columns sort by real clicks, and a row selects its function in all panes.
    @Test func functionsSortAndSelect() throws {
        let found = try server.page(
            "#pane=functions",
            [
                "still", Self.isThere,
                "click [...document.querySelectorAll('#pane-functions thead button')].filter(each => each.textContent === 'Change')[0]",
                "paneOf('functions').grid.shown.map(row => row.calls_change)",
                "click document.querySelector('#pane-functions tbody tr[data-at=\"0\"]')", "wait selection.name",
                "key 1", "wait graph && data.changes && names[fn[selected]] === selection.name", "colouring",
                "element('legend').textContent", "key 3", "wait paneOf('tree').grid.shown.some(row => row.isChosen())",
            ])
        let changes = found[0].filter { !"[] ".contains($0) }.split(separator: ",").compactMap { Int($0) }
        #expect(changes.count > 3 && changes == changes.sorted(by: >) && changes[0] > 0, "\(found)")
        #expect(found[1] == "\"change\"" && found[2].contains("slower or new"), "\(found)")
    }

    /// The graph is that of `flame --diff`; its other widths are of the session that is shown.
    @Test func theFlameGraphIsDifferential() throws {
        let file = directory.file("diff.json")
        try #require(try Fathom.run(["flame", after, "--diff", before, "--format", "json", "-o", file]).status == 0)
        let found = try server.page(
            "#pane=flame",
            [
                "wait graph && data.changes", "data.changes.totals", "data.changes.frames.length",
                "do (element('widths').value = 'plain', element('widths').dispatchEvent(new Event('change')))",
                "wait graph && !data.changes", "location.hash.includes('widths=plain')",
            ])
        let told = try run("jq", ["-c", ".changes | .totals, (.frames | length)", file]).stdout.split(separator: "\n")
        #expect([compact(found[0]), found[1]] == told.map(String.init) && found[2] == "true", "\(found)")
    }

    @Test func pathsAndDurationsAreThoseOfTheCommands() throws {
        let found = try server.page(
            "#pane=tree&function=repeated",
            [
                "wait paneOf('tree').grid.rows.length > 2",
                "paneOf('tree').grid.rows.filter(({ call }) => call.name === 'repeated').map(({ call: row }) => \(Self.numbers))",
                "key 4", "wait paneOf('durations').ranks.shown.length === 5",
                "paneOf('durations').ranks.shown.map(row => [row.before, row.after])",
                "paneOf('durations').parts.map(part => [...part.bars.children].reduce("
                    + "(sum, bar) => sum + Number(bar.firstChild.textContent.replace(',', '')), 0))",
            ])
        let paths = try jq(
            "[.paths[] | select(.path == [\"main\", \"repeated\"]) | [\(Self.told)]]",
            ["diff", "--by", "path", "--all", before, after])
        #expect(compact(found[0]) == paths)
        let tails = try [before, after].map { session in
            try jq(
                "[([.histogram[].calls] | add)] + [.percentiles[] | select(.percent | IN(50, 90, 99, 100)) | .duration_ns]",
                ["tail", session, "repeated"]
            ).dropFirst().dropLast().split(separator: ",").map(String.init)
        }
        #expect(compact(found[1]) == "[" + zip(tails[0], tails[1]).map { "[\($0),\($1)]" }.joined(separator: ",") + "]")
        #expect(compact(found[2]) == "[\(tails[0][0]),\(tails[1][0])]")
    }

    /// The header's choice leads to the other session, and Back leads back; what was selected stays.
    @Test func theOtherSessionCanBeShown() throws {
        let calls = "session.tracks.reduce((sum, each) => sum + each.calls, 0)"
        let isThere = "wait typeof session !== 'undefined' && session && panes.shown && pictures.size > 0"
        let found = try server.page(
            "#function=repeated&o=-N&o=steady",
            [
                isThere, calls, "element('title').textContent", "[...element('side').children].map(each => each.value)",
                "do (element('side').value = 'before', setTimeout(() => element('side').dispatchEvent(new Event('change')), 50), 1)",
                "wait typeof shownSide !== 'undefined' && shownSide === 'before'", isThere, calls,
                "element('side').value",
                "selection.name", "selection.filters", "key 6",
                "wait paneOf('info').parts.every(part => part.list.children.length > 4)",
                "paneOf('info').parts.map(part => part.list.textContent.includes(`${part.side}.fathom`))",
                "back",
                "wait typeof shownSide !== 'undefined' && shownSide === 'before' && panes.shown?.key === 'flame'",
                "back", "wait typeof shownSide !== 'undefined' && shownSide === 'after'", isThere, calls,
            ])
        let counts = try [before, after].map { try jq("[.functions[].calls] | add", ["report", $0]) }
        #expect(found[0] == counts[1] && found[3] == counts[0] && found.last == counts[1], "\(found)")
        #expect(found[1] == "\"before.fathom → after.fathom\"" && found[2] == #"["after", "before"]"#, "\(found)")
        #expect(found[4] == "\"before\"" && found[5] == "\"repeated\"" && found[6] == #"["-N", "steady"]"#, "\(found)")
        #expect(found[7] == "[true, true]", "\(found)")
    }

    /// Lines of the source have changes, too.
    @Test func sourceLinesHaveChanges() throws {
        let found = try server.page(
            "#pane=source&function=repeated",
            [
                "wait paneOf('source').grid?.rows.some(row => row.functions.length)",
                "paneOf('source').grid.rows.filter(row => row.functions.some(each => each.name === 'repeated')).map(row => \(Self.numbers))",
                "paneOf('source').grid.columns.map(each => each.title)", "wait paneOf('source').calls",
                "paneOf('source').grid.rows.filter(row => row.made_change).map(row => [row.made, row.made_change])",
            ])
        let told = try jq(
            "[.functions[] | select(.name == \"repeated\") | [\(Self.told)]]", ["diff", "--all", before, after])
        func changes(_ json: String) -> [Substring] {
            let numbers = json.filter { !"[] ".contains($0) }.split(separator: ",")
            return [1, 2, 4, 5, 7, 8].map { $0 < numbers.count ? numbers[$0] : "" }
        }
        #expect(changes(found[0]) == changes(told), "\(found) \(told)")
        #expect(found[1].contains(#""Calls", "Change", "Total", "Change", "Self", "Change", "Made""#), "\(found)")
        // What is new makes a call, what is gone made one, and `repeated` and who calls it make 20 more.
        #expect(found[2] == "[[1, 1], [0, -1], [120, 20], [120, 20], [1, 1], [0, -1]]", "\(found)")
    }

    /// Who asks names no session: which are compared, only the server knows.
    @Test func sessionsAreTheServersToName() throws {
        for (target, status) in [
            ("ask/diff", 200), ("ask/flame?o=--diff", 200), ("before/session", 200), ("before/ask/report", 200),
            ("before/", 404), ("before", 404), ("before/before/session", 404), ("before/../session", 404),
            ("after/session", 404),
            ("ask/diff?o=/etc/passwd", 400), ("ask/flame?o=--diff%3d/etc", 400), ("ask/diff?o=--output%3dx", 400),
            ("ask/diff?o=--", 400),
        ] {
            #expect(try server.get(target).status == status, "\(target)")
        }
        let one = try ViewServer(after, in: directory)
        for (target, status) in [("ask/diff", 400), ("ask/flame?o=--diff", 400), ("before/session", 404)] {
            #expect(try one.get(target).status == status, "\(target)")
        }
        #expect(try Fathom.run(["view", before, after, before, "--no-browser"]).status == 64)
    }
}
