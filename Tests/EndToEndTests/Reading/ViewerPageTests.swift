import TestSupport
import Testing

/// The viewer's page as a person uses it, with data inside in place of a server.
@Suite struct ViewerPageTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("viewer") }

    private static let ready = "wait typeof session !== 'undefined' && session && pictures.size === lanes.all.length"
    private static let drawn =
        "wait !timeline.pending && !timeline.isMoving && timeline.still?.version === timeline.version"

    private func run(_ steps: [String], viewer: FrozenViewer = .two, at hash: String = "") throws -> [String] {
        let page = try viewer.write(to: directory)
        return try Browser.run("\(page)\(hash)", [Self.ready, "still", Self.drawn] + steps, isFlame: false)
    }

    /// JavaScript for the middle of a row's entry, in the window.
    private static func entry(_ lane: String, row: Int, _ k: Int) -> String {
        """
        (() => { const lane = lanes.all.find(each => each.track.name === '\(lane)'), part = pictures.get(lane.index); \
        const box = stage.getBoundingClientRect(), k = part.first[\(row)] + \(k); \
        return { x: box.x + xOf(part.begin[k] + part.length[k] / 2), y: box.y + lane.top + 2 + rowsTop(lane) \
        + rowPlace(lane, \(row)) + rowTall(lane, \(row)) / 2 - timeline.scrolled, width: 0, height: 0 } })()
        """
    }

    /// JavaScript for what a lane's head has.
    private static func head(_ lane: String, _ part: String) -> String {
        "headNodes.get(lanes.all.find(each => each.track.name === '\(lane)')).querySelector('\(part)')"
    }

    private static let order = "lanes.items.filter(item => item.lane).map(item => item.lane.track.name)"

    @Test func lanesAreThereTheBusiestFirst() throws {
        let found = try run([
            Self.order, "lanes.all.map(lane => [lane.isOpen, lane.depth])",
            "lanes.all.map(lane => lane.marks.length)", "element('sum').textContent", "document.title",
            "element('heads').children.length", "stage.querySelectorAll('table tr').length > 0 || 'later'",
        ])
        #expect(found[0] == #"["busy", "idle"]"#)
        #expect(found[1] == "[[true, 2], [true, 3]]" && found[2] == "[1, 0]", "\(found)")
        #expect(found[3].contains("100.0 us") && found[3].contains("2 threads"), "\(found[3])")
        #expect(found[4].contains("made.fathom") && found[5] == "2")
    }

    /// A call has its function's colour, short ones a paler one, and what waits is grey or hatched.
    @Test(arguments: ["light", "dark"]) func whatIsDrawnTellsItself(_ scheme: String) throws {
        func colour(_ entry: String) -> String {
            "(at => { const box = stage.getBoundingClientRect(), ratio = timeline.ratio; return bitsOf('#' + "
                + "[...stageBrush.getImageData((at.x - box.x) * ratio, (at.y - box.y) * ratio, 1, 1).data].slice(0, 3)"
                + ".map(each => each.toString(16).padStart(2, '0')).join('')) })(\(entry))"
        }
        let call = Self.entry("busy", row: 1, 2), run = Self.entry("busy", row: 2, 0)
        let found = try self.run([
            "scheme \(scheme)", "wait theme === '\(scheme)'", Self.drawn, "do choose({ by: 'function' })", Self.drawn,
            // Beside the middle, where the name is not.
            "\(colour(call)) === bitsOf(tints.pair(2)[0])",
            // The tint is neither the call's colour nor the ground.
            "\(colour(run)) !== bitsOf(tints.pair(4)[0]) && \(colour(run)) !== bitsOf(inks().back)",
            "\(colour(Self.entry("idle", row: 0, 0))) === bitsOf(viewPalette().waiting[0])",
        ])
        #expect(found == ["true", "true", "true"], "\(found)")
    }

    @Test func aClickSelectsAndTheAddressKeepsIt() throws {
        let found = try run([
            "move \(Self.entry("busy", row: 2, 0))", "wait !element('tip').hidden", "element('tip').textContent",
            "click \(Self.entry("busy", row: 1, 2))", "wait selection.call", "selection.call", "selection.name",
            "wait location.hash.includes('call=1-1-61000-91000')", "wait names[fn[selected]] === 'compute'",
            "back", "wait selection.call === null", "selection.name",
        ])
        #expect(found[0].contains("900") && found[0].contains("4.00 us of 10.00 us"), "\(found[0])")
        #expect(found[1].contains(#""row": 1, "begin": 61000, "end": 91000"#) && found[2] == #""compute""#, "\(found)")
        #expect(found[3] == "null")
        let hash =
            "#from=11000&to=31000&range=12000-14000&function=parse&call=1-1-1000-41000&marks=13000&pane=functions"
        let again = try run(
            [
                "[selection.from, selection.to, selection.range, selection.name, selection.marks]", "panes.shown.key",
                "addressOf(selection) === location.hash",
            ], at: hash)
        #expect(again[0] == #"[11000, 31000, [12000, 14000], "parse", [13000]]"#)
        #expect(again[1] == #""functions""# && again[2] == "true", "\(again)")
    }

    @Test(arguments: ["400x800", "1280x800", "2560x1440"]) func wheelAndDragsMove(_ size: String) throws {
        let found = try run([
            "size \(size)", "wait innerWidth === \(size.prefix { $0 != "x" }) && timeline.width < innerWidth",
            Self.drawn,
            "document.documentElement.scrollWidth <= innerWidth",
            "do (window.moment = momentAtX(timeline.width / 2))", "wheel 0,-400 stage", "wait selection.to < 101000",
            "Math.abs(momentAtX(timeline.width / 2) - moment) <= 2 * nsPerPx()",
            "do (window.before = { ...selection })", "drag -60,0 stage", "wait selection.from > before.from",
            "Math.abs(selection.from - before.from - 60 * nsPerPx()) < 2",
            "Math.abs(selection.to - selection.from - before.to + before.from) < 1e-6",
            "shift-drag 60,0 stage", "wait selection.range",
            "Math.abs(selection.range[1] - selection.range[0] - 60 * nsPerPx()) < 2 * nsPerPx()",
            "wait element('chips').textContent.includes('range')", "key Escape", "wait selection.range === null",
            "key Home", "wait selection.from === 1000 && selection.to === 101000", "back", "wait selection.to < 101000",
        ])
        #expect(found == ["true", "true", "true", "true", "true"], "\(found)")
    }

    @Test func theViewGoesDownToTenNanosecondsAndNoFurther() throws {
        let found = try run([
            "do show(50000, 50001)", "selection.to - selection.from", "do show(-5, 1e9)",
            "[selection.from, selection.to]",
            "do show(100990, 101040)", "[selection.from, selection.to]",
        ])
        #expect(found == ["10", "[1000, 101000]", "[100950, 101000]"])
    }

    @Test func keysGoFromCallToCall() throws {
        let found = try run([
            "click \(Self.entry("busy", row: 1, 1))", "wait selection.call?.begin === 51000", "key .",
            "wait selection.call.begin === 61000", "key ArrowDown", "wait selection.call.row === 2",
            "selection.call.begin", "selection.name", "key ArrowUp", "wait selection.call.row === 1", "key ,",
            "wait selection.call.begin === 51000", "key r", "wait selection.range", "selection.range",
            "key f", "key f", "wait selection.to - selection.from < 11000",
            "selection.from < 51000 && selection.to > 61000", "key m", "selection.marks.length", "key m",
            "selection.marks.length", "key w", "wait selection.to - selection.from < 10300", "key s", "key d", "key a",
            "key ?", "element('help').open && element('help-keys').textContent.includes('Next call of the row')",
        ])
        #expect(found[0] == "71000" && found[1] == #""std::map<int, long>::find""#, "\(found)")
        #expect(Array(found[2...]) == ["[51000, 61000]", "true", "1", "0", "true"], "\(found)")
    }

    @Test func rangeEdgesAreDragged() throws {
        let edge =
            "(box => ({ x: box.x + xOf(selection.range[1]), y: box.y + 60, width: 0, height: 0 }))(stage.getBoundingClientRect())"
        let found = try run([
            "do choose({ range: [21000, 41000] })", Self.drawn, "drag 50,0 \(edge)",
            "wait selection.range[1] > 41000", "selection.range[0]",
            "Math.abs(selection.range[1] - 41000 - 50 * nsPerPx()) < 3 * nsPerPx()",
        ])
        #expect(found == ["21000", "true"])
    }

    @Test func lanesAreFoldedHiddenFilteredAndMoved() throws {
        let found = try run([
            "click \(Self.head("idle", ".fold"))", "wait !lanes.all[0].isOpen", "selection.folds",
            "click \(Self.head("idle", ".fold"))", "wait lanes.all[0].isOpen",
            "do \(Self.head("idle", ".fold")).focus()", "key p", "wait selection.pinned.length === 1", Self.order,
            "key p", "wait selection.pinned.length === 0", "key h", "wait selection.hidden.length === 1", Self.order,
            "do choose({ hidden: [] })", Self.drawn,
            "drag 0,-300 \(Self.head("idle", ".fold"))", "wait selection.sort === 'order'", Self.order,
            "click element('lane-filter')", "type bsy", "wait lanes.items.length === 1", Self.order, "key Escape",
            "location.hash",
        ])
        #expect(found[0] == #"{"0": 0}"# && found[1] == #"["idle", "busy"]"# && found[2] == #"["busy"]"#, "\(found)")
        #expect(found[3] == #"["idle", "busy"]"# && found[4] == #"["busy"]"#, "\(found)")
    }

    /// Panes show the numbers of the answers, and say in a sentence when there is none.
    @Test func panesTellWhatIsAnswered() throws {
        let cells =
            "[...document.querySelectorAll('#pane-functions tbody tr[data-at]')].map(line => [...line.children].map("
            + "cell => cell.textContent))"
        let found = try run([
            "key 2", "wait \(cells).length === 2", cells,
            "element('tabs').querySelector('[aria-selected=true]').textContent",
            "click document.querySelector('#pane-functions tbody tr[data-at=\"1\"]')", "wait selection.name",
            "selection.name", "key 1", "wait graph && main.width > 0", "count", "names[fn[selected]]",
            "do choose({ filters: ['-F', 'parse'] })", "wait !paneOf('flame').note.hidden",
            "paneOf('flame').note.textContent", "element('chips').textContent",
            "click element('chips').firstChild", "wait selection.filters.length === 0 && paneOf('flame').note.hidden",
        ])
        #expect(
            found[0] == #"[["main", "2", "200.0 us", "50.00 us", "60.00 us", "100.0 us", "100.0 us", "made.c:9"], "#
                + #"["parse", "2", "50.00 us", "46.00 us", "0 ns", "40.00 us", "40.00 us", "made.c:3"]]"#, "\(found[0])"
        )
        #expect(found[1] == #""Functions""# && found[2] == found[4], "\(found)")
        #expect(found[3] == "4")
        #expect(
            found[5].contains("a saved page answers for the whole time") && found[6].contains("-F parse"), "\(found)")
    }

    @Test func theCommandLineTakesWhatTheTerminalTakes() throws {
        let found = try run([
            "optionsFrom('-F parse -t 1.5ms --notrace=x')", "optionsFrom(\"-F 'a b' --from 10us --to 20us\")",
            "optionsFrom('-r 10us~+5us')", "optionsFrom('-r 10us~')", "optionsFrom('-F').error",
            "optionsFrom('-t soon').error",
            "optionsFrom('--output x').error", "optionsFrom('--from 2us --to 1us').error",
            "['10us', '1.5ms', '2s', '100ns', '3', 'x', '-1s'].map(timeFrom)",
            "bestOf(['luaD_call', 'lua_callk', 'close'], 'lcall', each => each, 9)",
            "likeness('zq', 'compute')", "exactly('a[0]')", "exactly('main')",
            "key :", "wait element('prompt').open", "type compu", "choicesFor('compu')[0].title",
            "key Enter", "wait selection.name === 'compute' && !element('prompt').open",
            "do openPrompt()", "type -F par", "element('choices').children.length > 1", "key Enter",
            "wait selection.filters.length === 2", "selection.filters", "do openPrompt()", "type -r 10us~20us",
            "key Enter",
            "wait selection.range", "selection.range", "do openPrompt()", "type sort by name", "key Enter",
            "wait selection.sort === 'name'", Self.order, "do openPrompt()", "type -q",
            "element('choices').textContent",
        ])
        #expect(found[0] == #"{"filters": ["-F", "parse", "-t", "1.5ms", "-N", "x"], "from": null, "to": null}"#)
        #expect(found[1] == #"{"filters": ["-F", "a b"], "from": 10000, "to": 20000}"#)
        #expect(found[2] == #"{"filters": [], "from": 10000, "to": 15000}"# && found[3].contains(#""to": 101000"#))
        #expect(found[4] == #""-F needs a value""# && found[5] == #""soon is no time such as 1.5ms""#, "\(found)")
        #expect(found[6] == #""there is no option --output here""# && found[7] == #""the range ends before it begins""#)
        #expect(found[8] == "[10000, 1500000, 2000000000, 100, 3000000000, null, null]")
        #expect(found[9] == #"["luaD_call", "lua_callk"]"# && found[10] == "0", "\(found)")
        #expect(found[11] == #""/^a\\[0\\]$/""# && found[12] == #""main""# && found[13] == #""compute""#, "\(found)")
        #expect(found[14] == "true" && found[15] == #"["-F", "par"]"# && found[16] == "[10000, 20000]", "\(found)")
        #expect(found[17] == #"["busy", "idle"]"# && found[18].contains("-q"), "\(found)")
    }

    @Test func whatIsSearchedStandsOut() throws {
        let found = try run([
            "click element('search')", "type comp", "wait shades.isSearch", Self.drawn, "Array.from(shades.hits)",
            "wait element('matched').textContent !== ''", "element('matched').textContent",
            "wait location.hash.includes('search=comp')", "key Escape", "wait !selection.search",
        ])
        #expect(found[0] == "[0, 0, 1, 0, 0]" && found[1].contains("20.00 %"), "\(found)")
    }

    @Test func touchPinchesAndSelects() throws {
        let found = try run([
            "touch", "size 400x800", "wait innerWidth === 400", Self.drawn, "pinch 2 stage",
            "wait selection.to - selection.from < 60000", "do glideTo(1000, 101000)", Self.drawn,
            "tap \(Self.entry("busy", row: 1, 0))", "wait selection.call", "selection.call.begin",
            "wait !element('tip').hidden", "do show(21000, 61000)", Self.drawn, "swipe -60,0 stage",
            "wait selection.from > 21000",
        ])
        #expect(found == ["1000"])
    }

    /// Where there are only sums, the panes are all there is; where there is nothing, the page says so.
    @Test func recordingsWithoutCalls() throws {
        var viewer = FrozenViewer.two
        viewer.content = "paths"
        let page = try viewer.write(to: directory)
        let found = try Browser.run(
            page,
            [
                "wait typeof session !== 'undefined' && session && graph", "panes.all.map(pane => pane.key)",
                "element('timeline').offsetHeight", "element('dock').offsetHeight > 500", "key 2",
                "wait document.querySelectorAll('#pane-functions tbody tr[data-at]').length === 2",
            ], isFlame: false)
        #expect(found == [#"["flame", "functions", "info"]"#, "0", "true"], "\(found)")
        let empty = try FrozenViewer(lanes: []).write(to: directory, named: "empty.html")
        let told = try Browser.run(
            empty,
            [
                "wait typeof session !== 'undefined' && session", "element('empty').hidden",
                "element('empty').textContent",
            ],
            isFlame: false)
        #expect(told[0] == "false" && told[1].contains("there are no calls"), "\(told)")
    }

    /// What can be pressed has a name, and each drawing tells who cannot see it what it shows.
    @Test func everythingHasAName() throws {
        let unnamed =
            "[...document.querySelectorAll('button, input, select, [role=listbox], [role=tabpanel], canvas:not([aria-hidden])')]"
            + ".filter(node => !node.getAttribute('aria-label') && !node.textContent.trim() && !node.getAttribute('aria-labelledby'))"
            + ".map(node => node.outerHTML.slice(0, 90))"
        let found = try run([
            "key 1", "key 2", "key 3", "key 4", "key 7", unnamed, "wait stage.querySelectorAll('td').length > 0",
            "stage.textContent.includes('busy') && stage.textContent.includes('main')",
            "element('overview').getAttribute('aria-valuetext')",
            "[...document.querySelectorAll('[id]')].length === new Set([...document.querySelectorAll('[id]')].map(node => node.id)).size",
        ])
        #expect(found[0] == "[]" && found[1] == "true" && found[2].contains("100.0 us"), "\(found)")
        #expect(found[3] == "true")
    }
}
