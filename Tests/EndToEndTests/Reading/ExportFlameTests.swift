import TestSupport
import Testing

/// Flame graphs as a person uses them: real clicks and keys in a real browser.
@Suite struct ExportFlameTests {
    private let recording: DrawnRecording
    private var session: String { recording.session }

    init() throws { recording = try DrawnRecording() }

    private func draw(_ name: String, _ options: [String] = []) throws -> String {
        try recording.draw(name, ["--title", "A <b> & ]]> c"] + options)
    }

    /// Calls, total and self of a function or call path as the report words them, and its total in ns.
    private func reported(_ name: String, by: String) throws -> (words: [String], total: Double) {
        let text = try Fathom.run(["report", session, "--by", by]).stdout
        let line = try #require(text.split(separator: "\n").first { $0.contains("  \(name)  json-gcc-O0  ") })
        let fields = line.split(separator: " ")
        // Calls, total and self, each time a number and a unit.
        try #require(fields.count > 4, "\(line)")
        let words = ["\(fields[0])", "\(fields[1]) \(fields[2])", "\(fields[3]) \(fields[4])"]
        let json = try Fathom.run(["report", session, "--by", by, "--format", "json"]).stdout
        let key =
            by == "path" ? "\"path\":[\"\(name.split(separator: " → ").joined(separator: "\",\""))\"]" : "\"\(name)\","
        let entry = try #require(json.split(separator: "\n").first { $0.contains(key) })
        let total = try #require(entry.split(separator: "\"total_ns\":").last).prefix { $0 != "," }
        return (words, try #require(Double(total)))
    }

    /// A number with two digits behind the point.
    private func percent(_ part: Double, of whole: Double) -> String {
        let hundredths = Int((10_000 * part / whole).rounded())
        return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) %"
    }

    @Test(arguments: ["flame.html", "flame.svg"]) func clicksZoomAndCrumbsLeadBack(_ name: String) throws {
        let file = try draw(name)
        let (words, total) = try reported("main → value", by: "path")
        let whole = try reported("main", by: "path").total
        let found = try Browser.run(
            file,
            [
                "document.title", "[name(0), name(1), name(graph.callee(1))]",
                "move \(Browser.place("graph.callee(1)"))", "wait !element('tip').hidden",
                "element('tip').querySelector('b').textContent",
                "[...element('tip').querySelectorAll('dd')].map(each => each.textContent.replaceAll(',', '')).join('|')",
                "click \(Browser.place("graph.callee(1)"))", "wait zoomed === graph.callee(1) && moving === 0",
                "Math.abs(main.placeOf(zoomed).width - main.width) < 0.01 && main.shown.span === total[zoomed]",
                "[...element('crumbs').querySelectorAll('button')].map(each => each.textContent)",
                "click element('crumbs').querySelectorAll('button')[1]", "wait zoomed === 1 && moving === 0",
                "click element('crumbs').querySelector('button')", "wait zoomed === 0 && moving === 0",
                "main.shown.span === total[0]",
            ])
        let facts = [
            words[0], "\(words[1]) (\(percent(total, of: whole)))", "\(words[2]) (",
        ]
        #expect(found[0] == #""A <b> & ]]> c""#)
        #expect(found[1] == #"["all", "main", "value"]"#)
        #expect(found[2] == #""value""#)
        let told = found[3].dropFirst().split(separator: "|")
        #expect(told.count == 3 && told[0] == facts[0] && told[1] == facts[1] && told[2].hasPrefix(facts[2]), "\(told)")
        #expect(Array(found[4...]) == ["true", #"["all", "main", "value"]"#, "true"])
    }

    @Test(arguments: ["flame.html", "flame.svg"]) func searchTellsTheShare(_ name: String) throws {
        let share = percent(try reported("value", by: "function").total, of: try reported("main", by: "function").total)
        let found = try Browser.run(
            try draw(name),
            [
                "key /", "wait document.activeElement === element('search')", "type VALUE", "wait matches !== null",
                "element('matched').textContent", "key Enter", "wait selected > 0", "name(selected)",
                "key Escape", "wait matches === null", "[element('matched').textContent, element('search').value]",
                "key /", "type /^ma.n$/", "wait main.marked?.items.length === 1", "element('matched').textContent",
                "key Escape",
                "key /", "type no such", "wait element('search').classList.contains('none')",
                "element('matched').textContent", "key Escape",
                "key /", "type /(/", "wait element('search').value === '/(/'", "element('matched').textContent",
            ])
        // A picture sums narrow frames: the share lies between two bounds, where those differ.
        let told = found[0].dropFirst()
        let words = try told.split(separator: " ").at(0).split(separator: "–").map(String.init)
        let bounds = words.compactMap { Double($0) }
        let exact = try #require(Double(String(share.dropLast(2))))
        let least = try #require(bounds.first)
        let most = try #require(bounds.last)
        #expect(least <= exact && exact <= most, "\(told), not \(share)")
        #expect(words.count == bounds.count && (bounds.count == 1 || name.hasSuffix("svg")))
        #expect(told.hasSuffix(#" in 1 function""#))
        #expect(found[1...3] == [#""value""#, #"["", ""]"#, #""100.00 % in 1 function""#])
        #expect(found[4] == #""no match""# || found[4] == #""no match wide enough to show""# && name.hasSuffix("svg"))
        #expect(found[5] == #""no regular expression""#)
    }

    @Test(arguments: ["flame.html", "flame.svg"]) func keysDoWhatTheMouseDoes(_ name: String) throws {
        let found = try Browser.run(
            try draw(name),
            [
                "still", "key ArrowDown", "key ArrowDown", "[name(selected), parent[selected]]", "key ArrowRight",
                "parent[selected]", "key ArrowLeft", "key Enter",
                "wait zoomed > 1 && main.shown.span === total[zoomed]",
                "key Backspace", "zoomed", "key i", "main.isTurned", "key ArrowDown", "selected", "key Escape",
                "zoomed",
                "key ?", "element('help').open", "key Escape", "wait !element('help').open",
            ])
        #expect(found == [#"["value", 1]"#, "1", "1", "true", "0", "0", "true"])
    }

    @Test func coloursAndWindowsChange() throws {
        let found = try Browser.run(
            try draw("flame.html", ["--colour", "kind", "--inverted"]),
            [
                "[element('colour').value, main.isTurned, element('legend').textContent]",
                "void (window.before = pairOf(graph, 1)[0])",
                "scheme dark", "wait theme === 'dark'", "pairOf(graph, 1)[0] !== window.before", "scheme light",
                "element('colour').value = 'module', element('colour').dispatchEvent(new Event('change'))",
                "element('legend').textContent", "size 400x500", "wait main.width <= 400 && canvas.width <= 400",
                "document.documentElement.scrollWidth <= 400",
                "move \(Browser.place("1"))", "wait !element('tip').hidden",
                "(box => box.left >= 0 && box.top >= 0 && box.right <= 400 && box.bottom <= 500)"
                    + "(element('tip').getBoundingClientRect())",
            ])
        #expect(found == [#"["kind", true, "C"]"#, "null", "true", "true", #""json-gcc-O0""#, "true", "true"])
    }

    @Test func pictureIsWellFormedAndStaysOneInsideAPage() throws {
        let picture = try draw("flame.svg")
        let parsed = try TestSupport.run(
            "python3",
            [
                "-c", "import sys, xml.dom.minidom as xml; print(xml.parse(sys.argv[1]).documentElement.tagName)",
                picture,
            ])
        #expect(parsed.stdout == "svg\n", "\(parsed.stderr)")
        let page = recording.directory.file("page.html")
        let text = String(decoding: try readFile(picture), as: UTF8.self)
        try writeFile(
            Array("<!doctype html><body>\(text)<script>var main = { width: 1, graph: 1 }</script></body>".utf8),
            to: page)
        let found = try Browser.run(page, ["document.querySelectorAll('svg > rect').length > 10", "document.title"])
        #expect(found.first == "true")
    }
}
