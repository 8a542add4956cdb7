internal import TraceAnalysis
internal import TraceText

/// A call tree whose paths open and close; or what leads to one function, and below it what that leads to.
struct TreeView: ScreenPage {
    enum Subject {
        case everything
        case function(UInt32)
    }

    /// A line: a path of a part, or the part's heading.
    private struct Row {
        var part: Int32
        /// -1 for the heading.
        var path: Int32
        var depth: Int32
        var isOpen: Bool
    }

    private let subject: Subject
    let name: String
    private var parts: [TreePart]
    private let open: [OpenPaths]
    private var rows: [Row] = []
    private var cursor = ListCursor()
    private var shownColumns: [ScreenColumn]
    private var order: TreeOrder

    init(_ subject: Subject, of content: ScreenContent, _ columns: [ScreenColumn], by order: TreeOrder) {
        self.subject = subject
        self.order = order
        shownColumns = columns
        switch subject {
        case .everything: name = "call tree"
        case .function(let id): name = "graph of " + content.tree.functions[id].name
        }
        parts = TreeView.parts(subject, content, order)
        open = parts.map { _ in OpenPaths() }
        for part in parts.indices { openHottest(part) }
        rebuild()
        if rows.first?.path == -1 { cursor.move(to: 1, of: rows.count) }
    }

    private static func parts(_ subject: Subject, _ content: ScreenContent, _ order: TreeOrder) -> [TreePart] {
        guard case .function(let id) = subject else { return [TreePart(nil, content.tree, order, content.numbers)] }
        let name = content.tree.functions[id].name
        let pattern = Pattern(exactly: name)
        var below = TreeFilter()
        below.only = [pattern]
        return [
            TreePart("what leads to \(name)", content.tree.inverted(at: [pattern]), order, content.numbers),
            TreePart("what \(name) leads to", content.tree.filtered(below), order, content.numbers),
        ]
    }

    /// A view of the same, with nothing open but what is hottest.
    func again(_ content: ScreenContent) -> TreeView {
        TreeView(subject, of: content, shownColumns, by: order)
    }

    // MARK: Rows

    /// Opens what has a tenth of all time, as long as that is not too much for a screen.
    private func openHottest(_ index: Int) {
        let part = parts[index]
        let limit = part.tree.total / 10
        var waiting = part.callees(of: -1)
        var opened = 0
        while let path = waiting.popLast(), opened < 100 {
            guard part.hasCallees(path), part.tree.paths[path].sums.total >= limit else { continue }
            open[index].set(part.functions(path), isOpen: true)
            opened += 1
            waiting += part.callees(of: path)
        }
    }

    private mutating func rebuild() {
        rows.removeAll(keepingCapacity: true)
        for (index, part) in parts.enumerated() {
            if part.heading != nil { rows.append(Row(part: Int32(index), path: -1, depth: 0, isOpen: true)) }
            var waiting: [(path: Int, depth: Int32, place: OpenPaths.Place)] = []
            func wait(for callees: [Int], _ depth: Int32, _ place: OpenPaths.Place) {
                for path in callees.reversed() { waiting.append((path, depth, place.callee(part.function(path)))) }
            }
            wait(for: part.callees(of: -1), 0, open[index].top)
            while let (path, depth, place) = waiting.popLast() {
                let isOpen = place.isOpen && part.hasCallees(path)
                rows.append(Row(part: Int32(index), path: Int32(path), depth: depth, isOpen: isOpen))
                if isOpen { wait(for: part.callees(of: path), depth + 1, place) }
            }
        }
        cursor.move(to: cursor.current, of: rows.count)
    }

    /// Shows other trees in place of these, as many; what was open stays open, and the current line stays the same path.
    mutating func replace(_ content: ScreenContent) { replace(TreeView.parts(subject, content, order)) }

    private mutating func replace(_ parts: [TreePart]) {
        let functions = current.map { self.parts[$0.part].functions($0.path) }
        let part = current?.part
        self.parts = parts
        rebuild()
        guard let functions, let part, let path = parts[part].path(functions) else { return }
        select(path, in: part)
    }

    mutating func sortByNext() -> String? {
        let all = TreeOrder.all(shownColumns)
        order = all[((all.firstIndex(of: order) ?? -1) + 1) % all.count]
        replace(parts.map { TreePart($0.heading, $0.tree, order, $0.numbers) })
        return order.text
    }

    var columns: [ScreenColumn]? {
        get { shownColumns }
        set { shownColumns = newValue ?? shownColumns }
    }

    // MARK: The current line

    /// The path that the current line shows.
    private var current: (part: Int, path: Int)? {
        guard rows.indices.contains(cursor.current), rows[cursor.current].path >= 0 else { return nil }
        return (Int(rows[cursor.current].part), Int(rows[cursor.current].path))
    }

    /// The functions of its path, the root's first, and what the path's calls add up to.
    var currentPath: (functions: [UInt32], row: AggregateRow)? {
        current.map { (parts[$0.part].functions($0.path), parts[$0.part].rows[$0.path]) }
    }

    var currentFunction: UInt32? { current.map { parts[$0.part].function($0.path) } }

    private mutating func select(_ path: Int, in part: Int) {
        guard let line = rows.firstIndex(where: { Int($0.part) == part && Int($0.path) == path }) else { return }
        cursor.move(to: line, of: rows.count)
    }

    /// Opens all callers of a path, and makes it the current one.
    private mutating func reveal(_ path: Int, in part: Int) {
        var functions = parts[part].functions(path).dropLast()
        while !functions.isEmpty {
            open[part].set(functions, isOpen: true)
            functions.removeLast()
        }
        rebuild()
        select(path, in: part)
    }

    // MARK: Keys

    /// - Returns: whether the key means something here.
    mutating func handle(_ key: Key) -> Bool {
        if cursor.handle(key, of: rows.count) { return true }
        switch key {
        case .enter: toggle()
        case .right, .character("+"): setOpen(true)
        case .left, .character("-"):
            if current != nil, rows[cursor.current].isOpen { setOpen(false) } else { goToParent() }
        case .character("x"): setCallees(isOpen: true)
        case .character("c"): setCallees(isOpen: false)
        case .character("E"): setAll(isOpen: true)
        case .character("C"): setAll(isOpen: false)
        case .character("n"): goToSibling(1)
        case .character("p"): goToSibling(-1)
        case .character("u"): goToParent()
        case .character("l"): goToLongest()
        default: return false
        }
        return true
    }

    private mutating func toggle() { if current != nil { setOpen(!rows[cursor.current].isOpen) } }

    private mutating func setOpen(_ isOpen: Bool) {
        guard let (part, path) = current, parts[part].hasCallees(path) else { return }
        open[part].set(parts[part].functions(path), isOpen: isOpen)
        rebuild()
    }

    /// Opens the current path and each of its callees, or closes the callees of an open one.
    private mutating func setCallees(isOpen: Bool) {
        guard let (part, path) = current, isOpen || rows[cursor.current].isOpen else { return }
        let functions = parts[part].functions(path)
        open[part].set(functions, isOpen: true)
        for callee in parts[part].tree.callees(of: path) {
            open[part].set(functions + [parts[part].function(callee)], isOpen: isOpen)
        }
        rebuild()
    }

    private mutating func setAll(isOpen: Bool) {
        guard let (part, path) = current else { return }
        open[part].setAll(parts[part].functions(path), isOpen: isOpen)
        rebuild()
    }

    private mutating func goToSibling(_ step: Int) {
        guard let (part, path) = current else { return }
        let siblings = parts[part].callees(of: parts[part].parent(path))
        let place = siblings.firstIndex(of: path)! + step
        if siblings.indices.contains(place) { select(siblings[place], in: part) }
    }

    private mutating func goToParent() {
        guard let (part, path) = current else { return }
        let parent = parts[part].parent(path)
        if parent >= 0 { select(parent, in: part) }
    }

    /// Opens the current path, and goes to the callee with the most time.
    private mutating func goToLongest() {
        guard let (part, path) = current else { return }
        let callees = parts[part].tree.callees(of: path)
        let longest = callees.reduce(nil as Int?) { longest, callee in
            let paths = parts[part].tree.paths
            return longest.map { paths[$0].sums.total >= paths[callee].sums.total } ?? false ? longest : callee
        }
        if let longest { reveal(longest, in: part) }
    }

    /// Goes to the next or the previous match, from the end again to the beginning.
    ///
    /// - Returns: whether there is one.
    mutating func search(_ text: SearchText, forward: Bool) -> Bool {
        let start = current.map { (part: $0.part, path: $0.path) } ?? (part: 0, path: -1)
        for step in 0...parts.count {
            let part = (start.part + (forward ? step : parts.count * 2 - step)) % parts.count
            let search = TreeSearch(parts[part], text)
            let path = step == 0 ? start.path : -1
            if let found = forward ? search.next(after: path) : search.previous(before: path) {
                reveal(found, in: part)
                return true
            }
        }
        return false
    }

    // MARK: Lines

    /// The heading, and lines to fill `height` with it.
    mutating func lines(width: Int, height: Int, search: SearchText?) -> [ScreenLine] {
        let shown = ScreenColumn.fitting(shownColumns, in: width, keeping: order.column)
        var heading = ScreenLine(width: width)
        for column in shown { heading.write(right: column.heading(parts[0].numbers), width: ScreenColumn.width, .bold) }
        heading.write("    function, callees by \(order.text)", .bold)
        let view = cursor.view(height: height - 1, of: rows.count)
        return [heading] + view.map { line(rows[$0], isCurrent: $0 == cursor.current, width, shown, search) }
    }

    private func line(
        _ row: Row, isCurrent: Bool, _ width: Int, _ columns: [ScreenColumn], _ search: SearchText?
    ) -> ScreenLine {
        let part = parts[Int(row.part)]
        var line = ScreenLine(width: width)
        line.isHighlighted = isCurrent
        if row.path < 0 {
            line.write(part.heading ?? "", .bold)
            return line
        }
        let path = Int(row.path)
        let sums = part.rows.row(path, percentiles: columns.contains { $0.needsPercentiles })
        for column in columns { column.write(sums, part.numbers, to: &line) }
        line.write("  ")
        let levels = max((line.room - min(TreeView.leastName, line.room / 2)) / 2, 0)
        if Int(row.depth) > levels {
            // Deeper levels stand in one column, with the depth as a number.
            line.write(spaces: levels * 2)
            line.write("\(row.depth) ", .dim)
        } else {
            line.write(spaces: Int(row.depth) * 2)
        }
        line.write(part.hasCallees(path) ? (row.isOpen ? "▾ " : "▸ ") : "  ", .dim)
        let name = part.tree.functions[part.function(path)].name
        line.write(name.shortened(to: line.room), search?.matches(name) == true ? .found : .plain)
        return line
    }

    /// Names get this many columns, however deep they stand, or half of what the numbers leave.
    private static let leastName = 24
}
