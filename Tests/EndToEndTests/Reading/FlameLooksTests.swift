import TestSupport
import Testing

/// How a flame graph's page looks and is handled on screens from a phone's to a large one, in light and dark, and on paper.
@Suite struct FlameLooksTests {
    private let recording: DrawnRecording
    private var directory: TemporaryDirectory { recording.directory }
    private let page: String

    init() throws {
        recording = try DrawnRecording()
        page = try recording.draw("flame.html")
    }

    /// The least contrast of a text to what is behind it, and of a control's border, by WCAG 2.2.
    static let contrasts = """
        (() => {
            const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
            const rgba = colour => {
                context.clearRect(0, 0, 1, 1);
                context.fillStyle = colour;
                context.fillRect(0, 0, 1, 1);
                return [...context.getImageData(0, 0, 1, 1).data];
            };
            const luminance = colour => rgba(colour).slice(0, 3).map(each => each / 255)
                .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
                .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
            const contrast = (a, b) => {
                const [x, y] = [luminance(a), luminance(b)];
                return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
            };
            const behind = node => {
                for (; node; node = node.parentElement) {
                    const colour = getComputedStyle(node).backgroundColor;
                    if (rgba(colour)[3] === 255) return colour;
                }
                return 'white';
            };
            const seen = [...document.body.querySelectorAll('*')].filter(node => node.checkVisibility()
                && !node.closest('canvas') && node.localName !== 'script');
            const texts = seen.filter(node => [...node.childNodes].some(each => each.nodeType === 3 && each.data.trim())
                || node.localName === 'input');
            const controls = seen.filter(node => ['input', 'select', 'button', 'dialog'].includes(node.localName)
                && parseFloat(getComputedStyle(node).borderTopWidth) > 0);
            const least = pairs => pairs.reduce((a, b) => a[0] < b[0] ? a : b, [99, 'nothing']);
            return [
                least(texts.map(node => [contrast(getComputedStyle(node).color, behind(node)), node.outerHTML.slice(0, 80)])),
                least(controls.map(node => [contrast(getComputedStyle(node).borderTopColor, behind(node.parentElement)),
                    node.outerHTML.slice(0, 80)])),
                texts.length, controls.length,
            ];
        })()
        """

    private static let fits = """
        document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight
        """
    private static let tipFits = """
        (box => box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight) \
        (element('tip').getBoundingClientRect())
        """

    private static let sizes = ["400x800", "1280x800", "2560x1440"]

    @Test(arguments: sizes, ["light", "dark"])
    func everythingFitsAndStandsOut(_ size: String, _ scheme: String) throws {
        let width = try #require(size.split(separator: "x").first)
        let table = "paneOf('functions').grid"
        let found = try Browser.run(
            page,
            [
                "still", "size \(size)", "scheme \(scheme)",
                "wait theme === '\(scheme)' && innerWidth === \(width)",
                "wait main.width > 0 && main.width <= innerWidth", Self.fits, Self.contrasts,
                "move \(Browser.place("1"))", "wait !element('tip').hidden", Self.tipFits, Self.contrasts, "key t",
                "wait \(table)?.shown.length > 0", Self.fits, Self.contrasts,
                "\(table).box.clientHeight > 100 && main.height > 100 && main.width > 300",
                // Beside a graph alone, there is room for one of the two.
                "key t", "key s",
                "click \(Browser.place("1"))", "wait focus !== null", Self.fits, Self.contrasts,
                "callersView.width > 300 && calleesView.height > 40", "key ?", "wait element('help').open",
                Self.contrasts, Self.fits, "key Escape", "wait !element('help').open", "key /", "type (",
                "wait matches !== null",
                Self.contrasts,
            ])
        for (index, line) in found.enumerated() where line.hasPrefix("[[") {
            let numbers = line.split { !($0.isNumber || $0 == ".") }.compactMap { Double($0) }
            #expect(try numbers.at(0) >= 4.5, "\(index): \(line)")
            let border = try #require(line.split(separator: "], [").at(1).split(separator: ",").first)
            #expect(try #require(Double(border)) >= 3, "\(index): \(line)")
        }
        #expect(found.filter { $0.hasPrefix("[[") }.count == 6)
        #expect(found.filter { !$0.hasPrefix("[[") } == Array(repeating: "true", count: 7), "\(found)")
    }

    /// The legend names as many files as it has room for, and counts the others.
    @Test func legend() throws {
        var sources = ["main.c": "int main(void) { return 0"]
        for letter in "abcdefghijkl" {
            let name = "a_file_with_a_long_name_\(letter)"
            sources["\(name).c"] = "int \(letter)(void) { return 0; }\n"
            sources["main.c"]! += " + \(letter)()"
        }
        sources["main.c"]! += "; }\n"
        let declarations = "abcdefghijkl".map { "int \($0)(void);" }.joined(separator: " ")
        sources["main.c"] = "\(declarations)\n\(sources["main.c"]!)"
        let program = try Toolchain.compile(
            sources: sources, compiler: .gcc, flags: ["-g", "-finstrument-functions"],
            output: directory.file("files"))
        let (session, file) = (directory.file("files.fathom"), directory.file("files.html"))
        _ = try Fathom.record([program], into: session, options: ["--quiet", "--no-blocked"])
        #expect(try Fathom.run(["flame", session, "--colour", "file", "-o", file]).status == 0)
        let legend = "element('legend')"
        let found = try Browser.run(
            file,
            ["1280x800", "2560x800"].flatMap {
                let width = $0.prefix { $0 != "x" }
                return [
                    "size \($0)", "wait innerWidth === \(width) && main.width > innerWidth - 40",
                    "wait \(legend).scrollWidth <= \(legend).clientWidth", "\(legend).children.length",
                    "\(legend).lastChild.textContent",
                ]
            })
        let counts = [try #require(Int(found[0])), try #require(Int(found[2]))]
        #expect(counts[0] > 1 && counts[0] < counts[1], "\(found)")
        #expect(
            found[1] == "\"and \(13 - counts[0] + 1) more\"" && found[3] == "\"and \(13 - counts[1] + 1) more\"",
            "\(found)")
    }

    /// Two fingers zoom about their middle, and Back leads back.
    @Test(arguments: sizes) func twoFingers(_ size: String) throws {
        let near = Browser.point("main.width / 4", "10")
        let found = try Browser.run(
            page,
            [
                "touch", "still", "size \(size)", Browser.isOfSize(size),
                "do (window.moment = main.momentAt(main.width / 4))", "pinch 2 \(near)",
                "Math.abs(main.shown.span * 2 / total[0] - 1) < 0.05",
                "Math.abs(main.momentAt(main.width / 4) - moment) < total[0] / 100",
                "location.hash === addressOf(selection) && isFree()",
                "do (window.span = main.shown.span)", "pinch 2 \(near)",
                "Math.abs(main.shown.span * 4 / total[0] - 1) < 0.1", "back",
                "wait Math.abs(main.shown.span - span) <= 1", "pinch 0.1 \(near)",
                "main.shown.span === total[0] && main.shown.start === 0",
            ])
        #expect(found == Array(repeating: "true", count: 5))
    }

    /// On a touch screen, the first tap tells and the second zooms.
    @Test(arguments: sizes) func fingers(_ size: String) throws {
        let found = try Browser.run(
            page,
            [
                "touch", "still", "size \(size)", Browser.isOfSize(size), "tap \(Browser.place("graph.callee(1)"))",
                "wait !element('tip').hidden && selected === graph.callee(1)", "zoomed",
                "tap \(Browser.place("graph.callee(1)"))", "wait zoomed === graph.callee(1)",
            ])
        #expect(found == ["0"])
    }

    /// A name of 12,000 letters has three lines at most, its beginning and its end; letters twice as wide take twice the room.
    @Test func longAndWideNames() throws {
        let source = directory.file("names.c")
        let long = "begin_" + String(repeating: "x", count: 12_000) + "_end"
        let wide = "データを検索して並べ替える関数"
        try writeFile(
            Array("void \(long)(void) {}\nvoid \(wide)(void) { \(long)(); }\nint main(void) { \(wide)(); }\n".utf8),
            to: source)
        let program = directory.file("names")
        let compiled = try TestSupport.run("gcc", ["-g", "-finstrument-functions", source, "-o", program])
        try #require(compiled.status == 0, "\(compiled.stderr)")
        let (session, file) = (directory.file("names.fathom"), directory.file("names.html"))
        _ = try Fathom.record([program], into: session, options: ["--quiet", "--no-blocked"])
        #expect(try Fathom.run(["flame", session, "-o", file]).status == 0)
        let found = try Browser.run(
            file,
            [
                "size 400x800", "still", "wait main.width <= 400", "move \(Browser.place("3"))",
                "wait !element('tip').hidden",
                "element('tip').querySelector('b').offsetHeight <= 3 * 18 + 1",
                "/^begin_x+…x+_end$/.test(element('tip').querySelector('b').textContent)", Self.tipFits,
                "element('tip').firstChild.localName", "element('tip').textContent.includes('names.c:1')",
                // The label is as wide as its frame, and no wider.
                "[60, 80, 100].map(room => main.context.measureText(fitted(main.context, names[fn[2]], room)).width <= room)",
                "fitted(main.context, names[fn[2]], 100).endsWith('…')",
            ])
        #expect(found == ["true", "true", "true", #""dl""#, "true", "[true, true, true]", "true"])
    }

    /// On paper, all rows are there, in light colours; then the page is as before.
    @Test func printing() throws {
        let file = directory.file("page.pdf")
        let flat = try recording.draw("flat.html", ["--max-depth", "20"])
        let found = try Browser.run(
            flat,
            [
                "size 1280x200", "scheme dark", "wait theme === 'dark' && main.height < 200",
                "do addEventListener('beforeprint', () => { window.printed = [theme, main.height >= graph.rows * rowHeight] })",
                "print \(file)", "printed", "wait theme === 'dark' && main.height < 200",
                "getComputedStyle(document.body).overflow",
            ])
        #expect(found == [#"["light", true]"#, #""hidden""#])
        #expect(try readFile(file).starts(with: Array("%PDF".utf8)))
    }

    /// What somebody slips into the page neither runs nor leads out of it.
    @Test func thePolicyHolds() throws {
        for attack in [
            "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.wasRun = 1' }))",
            "fetch('data:text/plain,x').then(() => 1, () => 2)",
            "document.body.append(Object.assign(new Image(), { src: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' }))",
        ] {
            let failure = #expect(throws: BrowserFailure.self) {
                _ = try Browser.run(page, ["do \(attack)", "wait true"])
            }
            #expect(failure?.errors.contains("Content Security Policy") == true)
        }
    }
}
