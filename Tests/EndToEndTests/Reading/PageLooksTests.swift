import TestSupport
import Testing

/// How pages of trends and of starts look on screens from a phone's to a large one, in light and dark.
@Suite struct PageLooksTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("page-looks") }

    /// Everything that is shown is inside the window, and each text of a picture inside the picture.
    private static let fits = """
        document.documentElement.scrollWidth <= innerWidth \
        && [...document.querySelectorAll('.scroll')].every(each => each.scrollWidth <= each.clientWidth) \
        && [...document.querySelectorAll('svg')].filter(each => each.checkVisibility()).every(picture => \
        (outer => [...picture.querySelectorAll('text')].every(text => (box => box.left >= outer.left - 1 \
        && box.right <= outer.right + 1)(text.getBoundingClientRect())))(picture.getBoundingClientRect()))
        """
    /// Texts of pictures that lie on each other.
    private static let overlaps = """
        [...document.querySelectorAll('svg')].filter(each => each.checkVisibility()).flatMap(picture => \
        [...picture.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()])) \
        .flatMap(([one, a], at, all) => all.slice(at + 1).filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 \
        && a.top < b.bottom - 4 && b.top < a.bottom - 4).map(([other]) => `${one} on ${other}`))
        """

    private func look(_ page: String) throws {
        for size in ["400x800", "1280x800", "2560x1440"] {
            for scheme in ["light", "dark"] {
                let width = size.prefix { $0 != "x" }
                let found = try Browser.run(
                    page,
                    [
                        "size \(size)", "scheme \(scheme)",
                        "wait innerWidth === \(width) && matchMedia('(prefers-color-scheme: \(scheme))').matches",
                        Self.fits, Self.overlaps, FlameLooksTests.contrasts,
                        "[...document.querySelectorAll('svg')].filter(each => each.checkVisibility()).length",
                    ], isFlame: false)
                #expect(found[0] == "true" && found[1] == "[]" && found[3] == "1", "\(size) \(scheme): \(found)")
                let contrast = found[2].split { !($0.isNumber || $0 == ".") }.compactMap { Double($0) }.first
                #expect(try #require(contrast) >= 4.5, "\(size) \(scheme): \(found[2])")
            }
        }
    }

    /// A trend has a legend, dates, zero, and by how much each version differs from the one before.
    @Test func trend() throws {
        let program = try Binaries.instrumented("json.c", .gccO0), history = directory.file("h.db")
        for (version, size) in [("1.0", "10"), ("1.1-a-version-with-a-long-name", "10"), ("2.0", "10")] {
            for run in 1...4 {
                let session = directory.file("\(version)-\(run).fathom")
                _ = try Fathom.record([program, size], into: session)
                let added = try Fathom.run([
                    "history", "add", "--history", history, "--label", "version=\(version)", session,
                ])
                #expect(added.status == 0, "\(added.stderr)")
            }
        }
        let page = directory.file("trend.html")
        let drawn = try Fathom.run(["history", "trend", "total", "--history", history, "-o", page])
        #expect(drawn.status == 0, "\(drawn.stderr)")
        try look(page)
        let texts = try Browser.run(
            page,
            [
                "[...document.querySelectorAll('.wide text')].map(each => each.textContent).join('|')",
                "[...document.querySelectorAll('th')].map(each => each.textContent).join('|')",
                "document.querySelectorAll('tr').length",
            ], isFlame: false)
        #expect(texts[0].contains("a run|median of a version|p90|") && texts[0].contains("|0|"), "\(texts)")
        #expect(texts[1...] == [#""version|since|runs|median|p90|its change""#, "4"])
    }

    /// A start of several runs has what their phases took, and the runs, as the text has.
    @Test func start() throws {
        let page = directory.file("start.html")
        let drawn = try Fathom.run(
            ["startup", "--runs", "3", "-o", page, "--", try Binaries.instrumented("json.c", .gccO0), "10"])
        #expect(drawn.status == 0, "\(drawn.stderr)")
        try look(page)
        let texts = try Browser.run(
            page,
            [
                "[...document.querySelectorAll('h2')].map(each => each.textContent)",
                "[...document.querySelectorAll('td.name')].filter(each => each.textContent.startsWith('run ')).length",
                "document.body.textContent.includes('nitialiser')",
            ], isFlame: false)
        #expect(texts[0].contains("Phases of 3 runs") && texts[0].contains("Runs, coldest first"), "\(texts)")
        #expect(texts[1...] == ["3", "false"])
    }
}
