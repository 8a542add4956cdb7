import TestSupport
import Testing

/// What is beside a flame graph, and what leads back to a place in it.
@Suite struct FlamePanelTests {
    private let recording: DrawnRecording
    private var session: String { recording.session }
    private let page: String

    init() throws {
        recording = try DrawnRecording()
        page = try recording.draw("flame.html")
    }

    /// The report's lines, as cells: function, calls, total, self.
    private func reported(_ options: [String] = []) throws -> [String] {
        let text = try Fathom.run(["report", session] + options).stdout
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard let module = fields.firstIndex(of: "json-gcc-O0"), module > 4, fields.count > 12 else { return nil }
            // A name's mark says that its times are mostly those of hooks.
            let name = fields[module - 1].trimmingPrefix("≈")
            let calls = fields[0].filter { $0 != "," }
            return "\(name) \(calls) \(fields[1]) \(fields[2]) \(fields[3]) \(fields[4])"
        }
    }

    private static let tableIsThere = "wait paneOf('functions').grid?.shown.length > 0"
    private static let lines = """
        [...paneOf('functions').grid.body.querySelectorAll('[data-at]')].map(line => \
        [...line.children].filter(cell => !cell.matches('.place, .share, .ownshare')).map(cell => cell.textContent.replaceAll(',', '')).join(' '))
        """

    /// Strings of a JSON list.
    private func strings(_ list: String) -> [String] {
        list.dropFirst(2).dropLast(2).split(separator: "\", \"").map(String.init)
    }

    @Test func theTableIsTheReport() throws {
        let heads = "paneOf('functions').grid.heads.querySelectorAll('button')"
        let found = try Browser.run(
            page,
            [
                "key t", Self.tableIsThere, Self.lines, "click \(heads)[2]", Self.lines, "click \(heads)[2]",
                "[...paneOf('functions').grid.heads.children].map(each => each.getAttribute('aria-sort'))", Self.lines,
                "click \(heads)[0]", Self.lines, "click paneOf('functions').filter", "type /^VAL/i",
                "wait paneOf('functions').grid.shown.length === 1", Self.lines, "paneOf('functions').scope.textContent",
                "key Escape", "wait paneOf('functions').grid.shown.length > 1",
                "click paneOf('functions').grid.body.querySelector('[data-at]')",
                "fn[selected] === paneOf('functions').grid.shown[0].f",
                "paneOf('functions').grid.table.getAttribute('aria-rowcount') > 1",
            ])
        let rows = try reported()
        func own(_ row: String) -> String { row.split(separator: " ").suffix(2).joined(separator: " ") }
        #expect(rows.count > 3)
        let tables = [found[0], found[1], found[3], found[4]].map(strings)
        for table in tables { #expect(table.sorted() == rows.sorted(), "\(table)") }
        func calls(_ table: [String]) throws -> [Int] {
            try table.map { row in try #require(Int(row.split(separator: " ").at(1)), "\(row)") }
        }
        let (falling, rising) = (try calls(tables[1]), try calls(tables[2]))
        #expect(falling == falling.sorted(by: >) && rising == rising.sorted())
        #expect(found[2] == #"[null, null, "ascending", null, null, null, null]"#)
        #expect(tables[3] == tables[3].sorted())
        #expect(strings(found[5]).count == 1 && found[5].contains("value"))
        #expect(found[6].hasPrefix("\"1 function in all") && Array(found[7...]) == ["true", "true"])
    }

    /// Two instances of a template have one label in the graph, so the table has their whole names.
    @Test func theTableHasWholeNames() throws {
        let found = try Browser.run(
            page,
            [
                "do names[0] = 'Box<int>::get', names[1] = 'Box<long>::get', data.labels[0] = data.labels[1] = 'Box<…>::get'",
                "key t", Self.tableIsThere,
                "do window.cells = [0, 1].map(f => paneOf('functions').grid.shown.findIndex(row => row.f === f))"
                    + ".map(at => document.querySelector(`[data-at=\"${at}\"] th`))",
                "cells.every(cell => cell)", "cells.map(cell => cell.textContent)",
                "cells.map(cell => cell.title.split(String.fromCharCode(10))[0])",
            ])
        let whole = #"["Box<int>::get", "Box<long>::get"]"#
        #expect(found == ["true", whole, whole])
    }

    /// However narrow the window, what is told of a frame has its name and its place in view, and the name is cut once.
    @Test(arguments: ["400x800", "1280x800"]) func theStatusShowsTheName(_ size: String) throws {
        let inView = """
            (part => { const box = part.getBoundingClientRect(); \
            return box.width > 30 && box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight })
            """
        let found = try Browser.run(
            page,
            [
                "still", "size \(size)", "wait innerWidth === \(size.split(separator: "x")[0])",
                "do names[fn[graph.callee(1)]] = 'long'.repeat(100)", "do select(graph.callee(1))",
                "element('status').children.length", "[...element('status').children].every(\(inView))",
                "element('status').children[1].textContent.includes('long'.repeat(100))",
            ])
        #expect(found == ["3", "true", "true"])
    }

    /// Zoomed, the table is of what is zoomed to.
    @Test func theTableFollowsTheGraph() throws {
        let found = try Browser.run(
            page,
            [
                "still", "key t", Self.tableIsThere, "do selectFunction(names.indexOf('value'))",
                "click canvas", "key Home", "do zoom(Array.from(fn).findIndex(f => names[f] === 'value'))",
                "wait paneOf('functions').scope.textContent.endsWith('in value')",
                "paneOf('functions').rows.some(row => row.name === 'main')",
                "paneOf('functions').rows.find(row => row.name === 'value').total === total[zoomed]",
            ])
        #expect(found == ["false", "true"])
    }

    @Test func theSandwichIsTheReport() throws {
        let whole = try reported().first { $0.hasPrefix("value ") }
        let words = try #require(whole).split(separator: " ")
        let found = try Browser.run(
            page,
            [
                "still", "do selectFunction(names.indexOf('value'))", "key s", "wait focus !== null",
                "[...element('focus').firstChild.textContent.replaceAll(',', '').matchAll(/(calls|total|self) ([^(·]*[^(· ])/g)]"
                    + ".map(match => match[2]).join(' ')",
                "callersView.graph.total[0] === calleesView.graph.total[0]",
                // What leads to it, and only that, is above it.
                "callersView.graph.name(callersView.graph.count - 1) === 'main' || "
                    + "Array.from(callersView.graph.fn).map(f => names[f]).includes('main')",
                "Array.from(calleesView.graph.fn).map(f => names[f]).includes('main')",
                "callersView.isTurned && !calleesView.isTurned", "element('focus').textContent.includes('value')",
                // A click on a caller looks at that one.
                "click \(Browser.place("Array.from(callersView.graph.fn).findIndex(f => names[f] === 'main')", in: "callersView"))",
                "wait names[focus] === 'main'", "name(selected)",
                // Every call's self time is in the graph of the outermost function.
                "Math.abs(Array.from(calleesView.graph.self).reduce((a, b) => a + b) - total[1]) <= count",
                "key s", "element('sandwich').hidden",
            ])
        #expect(found[0] == "\"\(words.dropFirst().joined(separator: " "))\"")
        #expect(Array(found[1...]) == ["true", "true", "false", "true", "true", #""main""#, "true", "true"])
    }

    @Test func theAddressLeadsBack() throws {
        let state = """
            [name(zoomed), name(selected), element('search').value, panes.shown.key, paneOf('functions').grid?.sort, \
            colouring, main.isTurned, paneOf('functions').filter?.value]
            """
        let found = try Browser.run(
            page,
            [
                "still", "click \(Browser.place("graph.callee(1)"))", "wait zoomed > 1", "key ArrowDown",
                "wait location.hash.includes('select')", "key t", Self.tableIsThere,
                "click paneOf('functions').grid.heads.querySelectorAll('button')[3]",
                "click paneOf('functions').filter", "type a", "key Escape",
                "wait paneOf('functions').filter.value === ''",
                "click paneOf('functions').filter", "type e",
                "do element('colour').value = 'file', element('colour').dispatchEvent(new Event('change'))",
                "click element('search')", "type value",
                "wait location.hash.includes('search=value') && location.hash.includes('filter=e')",
                "click element('turn')", "wait location.hash.includes('turned')", state, "location.hash",
                "back", "wait colouring !== 'file'", "back", "wait zoomed === 0", "main.shown.span === total[0]",
                "do history.forward()", "wait zoomed > 1", "do history.forward()", "wait colouring === 'file'",
                "wait element('search').value === 'value'", state,
            ])
        #expect(
            found[0].hasPrefix(#"["value", "#)
                && found[0].hasSuffix(#""value", "functions", "total", "file", true, "e"]"#))
        #expect(found.last == found[0] && found.contains("true"))
        let hash = found[1].dropFirst().dropLast()
        let shared = try Browser.run("\(page)\(hash)", [Self.tableIsThere, state])
        #expect(shared == [found[0]])
        // No address is a mistake.
        let wrong = try Browser.run(
            "\(page)#zoom=99999999&select=-1&search=%2F(%2F&pane=x&order=y&by=toString&span=0&range=9-1",
            ["zoomed", "selected", "panes.shown.key", "colouring"])
        #expect(wrong == ["0", "0", #""flame""#, #""self""#])
    }

    /// The table is open where there is room for it, unless somebody closed it, with where functions are and their shares.
    @Test func wideWindowsHaveTheTable() throws {
        let blank = recording.directory.file("blank.html")
        try writeFile(Array("<!doctype html><script>const main = { width: 1, graph: 1 }</script>".utf8), to: blank)
        func opened(_ size: String, _ steps: [String]) throws -> [String] {
            try Browser.run(
                blank,
                [
                    "still", "size \(size)", "load \(page)",
                    "wait typeof main !== 'undefined' && main.width > 1 && main.graph",
                ] + steps)
        }
        let seen = """
            ['.calls', '.place', '.share', '.ownshare'].map(each => \
            paneOf('functions').grid.body.querySelector(`[data-at] ${each}`).checkVisibility())
            """
        let wide = try opened(
            "2560x1440",
            [
                Self.tableIsThere, "panes.shown.key", seen,
                "paneOf('functions').grid.body.querySelector('.place').textContent.startsWith('json.c:')",
                "location.hash", "key t", "wait location.hash.includes('pane=flame')",
                "paneOf('functions').place.hidden",
            ])
        #expect(
            wide == [#""functions""#, "[true, true, true, true]", "true", #""""#, "true"], "\(wide)")
        let narrow = try opened("400x800", ["panes.shown.key", "key t", Self.tableIsThere, seen])
        #expect(narrow == [#""flame""#, "[false, false, false, true]"], "\(narrow)")
    }

    /// A name that has no room loses its middle, since names often differ at their ends.
    @Test func longNamesInTheTable() throws {
        let found = try Browser.run(
            page,
            [
                "do names[0] = `begin_${'x'.repeat(300)}_end`", "key t", Self.tableIsThere,
                "do (window.cell = document.querySelector(`[data-at=\"${paneOf('functions').grid.shown.findIndex(row => row.f === 0)}\"] th`))",
                "/^begin_x+…x*_end$/.test(cell.textContent)", "cell.scrollWidth <= cell.clientWidth",
            ])
        #expect(found == ["true", "true"])
    }

    /// `n` goes from the widest match to the next.
    @Test func matchesComeByWidth() throws {
        let found = try Browser.run(
            page,
            ["key /", "type /VALUE/i", "wait matches !== null", "key Enter"]
                + Array(repeating: ["total[selected]", "key Enter"], count: 4).flatMap(\.self)
                + [
                    "click element('keys')", "click element('close')", "do canvas.focus()", "key N",
                    "total[selected]",
                ]
                + ["element('matched').textContent"])
        let widths = found.prefix(4).compactMap { Double($0) }
        #expect(widths.count == 4 && widths == widths.sorted(by: >))
        #expect(Double(found[4]) == widths[3])
        #expect(found[5].hasPrefix("\"4 of "))
    }

    @Test func whatIsToldIsCopied() throws {
        let found = try Browser.run(
            page,
            [
                "still", "do select(graph.callee(1))", "do canvas.focus()", "key c",
                "wait element('status').textContent.startsWith('copied: ')", "click element('search')", "paste",
                "wait element('search').value !== ''", "element('search').value", "key Escape",
                "move \(Browser.place("1"))", "wait pointed !== null", "key c", "click element('search')", "paste",
                "wait element('search').value.includes('main')",
            ])
        #expect(found[0].contains("calls ") && found[0].contains("value") && found[0].contains("json.c:"), "\(found)")
    }

    /// Who cannot see the drawing finds its numbers in it.
    @Test func theDrawingHoldsATable() throws {
        let found = try Browser.run(
            page,
            [
                "canvas.querySelector('caption').textContent",
                "[...canvas.querySelectorAll('tr')].slice(1).map(line => line.firstChild.textContent)",
                "canvas.getAttribute('aria-label').startsWith('Flame graph')", "key ArrowDown", "key Enter",
                "wait zoomed > 0", "canvas.querySelector('caption').textContent.startsWith('main, ')",
            ])
        #expect(
            found == [#""all, its caller and its callees, the longest first""#, #"["all", "main"]"#, "true", "true"])
    }
}
