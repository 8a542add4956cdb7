public import TraceAnalysis
internal import TraceText

/// A screen on which somebody looks through what was recorded, by keys. It knows no terminal: keys go in, and lines come
/// out.
public struct TraceScreen {
    private var content: ScreenContent
    /// What the filter leaves of it.
    private var shown: ScreenContent
    private let surroundings: ScreenSurroundings
    private let characters: Characters
    private var width = 80
    private var height = 24

    /// The call tree and the report, one of which is below all other pages.
    private var bases: [any ScreenPage]
    private var base: Int
    private var pages: [any ScreenPage] = []
    private var prompt: Prompt?
    private var search: SearchText?
    private var filter: Pattern?
    /// What is said in the last line until the next key.
    private var message: (text: String, style: ScreenStyle)?
    /// Whether new content is not to be shown for now.
    public private(set) var isPaused = false

    /// Which of the two first pages is shown.
    public enum Start: Sendable { case tree, report }

    /// - Parameter order: what lines are sorted by.
    public init(
        _ content: ScreenContent, _ start: Start, sortedBy order: ScreenColumn = .total,
        characters: Characters = .all, surroundings: ScreenSurroundings = ScreenSurroundings()
    ) {
        self.content = content
        shown = content
        self.characters = characters
        self.surroundings = surroundings
        base = start == .tree ? 0 : 1
        bases = TraceScreen.bases(content, order)
    }

    private static func bases(_ content: ScreenContent, _ order: ScreenColumn) -> [any ScreenPage] {
        let hasTimes = content.keepsTimes
        let order = hasTimes ? order : .calls
        let treeColumns = hasTimes ? ScreenColumn.ofTree : [.calls]
        var tableColumns = hasTimes ? ScreenColumn.ofTable(isLive: content.isLive) : [.calls]
        if !tableColumns.contains(order) { tableColumns.append(order) }
        return [
            TreeView(.everything, of: content, treeColumns, by: .column(order == .now ? .total : order)),
            TableView(nil, content.rows, content.tree.functions, content.numbers, tableColumns, by: order),
        ]
    }

    // MARK: What is shown

    public mutating func resize(columns: Int, rows: Int) { (width, height) = (max(columns, 0), max(rows, 0)) }

    /// Shows what is known now.
    public mutating func update(_ content: ScreenContent) {
        self.content = content
        shown = filtered(content)
        for index in bases.indices { bases[index].replace(shown) }
        for index in pages.indices { pages[index].replace(shown) }
    }

    /// Shows how things are, and not what is new otherwise.
    public mutating func update(status: String) { (content.status, shown.status) = (status, status) }

    /// Says something until the next key.
    public mutating func say(_ text: String, isError: Bool = false) {
        message = (text.visible, isError ? .hot : .plain)
    }

    /// The rows of the report, whose paths they are of, and the name of what they are sorted by.
    public var report: (rows: [AggregateRow], tree: CallPathTree, order: String) {
        let order = (bases[1] as? TableView)?.order
        return (shown.rows, shown.tree, order?.rawValue ?? "name")
    }

    private func filtered(_ content: ScreenContent) -> ScreenContent {
        guard let filter else { return content }
        var names = TreeFilter()
        names.only = [filter]
        return content.filtered(names)
    }

    private var page: any ScreenPage {
        get { pages.last ?? bases[base] }
        set {
            if pages.isEmpty { bases[base] = newValue } else { pages[pages.count - 1] = newValue }
        }
    }

    // MARK: Keys

    /// Does what a key says.
    ///
    /// - Returns: what is left for others to do.
    public mutating func handle(_ key: Key) -> ScreenAction? {
        message = nil
        if prompt != nil { return handleInPrompt(key) }
        if page is ChoiceView, let action = handleInChoice(key) { return action.value }
        if handleInPage(key) { return nil }
        switch key {
        case .character("q"), .control("c"): return .quit
        case .escape, .backspace: if !pages.isEmpty { pages.removeLast() }
        case .character("G"): show(base: 0)
        case .character("R"): show(base: 1)
        case .tab, .backTab: show(base: pages.isEmpty ? 1 - base : base)
        case .character("g"): openGraph()
        case .character("r"), .enter: openFunction()
        case .character("v"): showDetails()
        case .character("I"):
            pages.append(TextView("info", surroundings.info().map { ($0, .plain) }))
        case .character("S"):
            pages.append(
                ChoiceView("processes and threads", content.choices, chosen: [content.chosen], isMultiple: false))
        case .character("o"):
            guard let openCalls = surroundings.openCalls else { return sayNothingRuns() }
            pages.append(TextView("open calls", openCalls))
        case .character("f"): chooseColumns()
        case .character("h"), .character("?"): pages.append(TextView.help(isLive: content.isLive))
        case .character("O"), .character("e"): return edit()
        case .character("s"):
            if let order = page.sortByNext() { say("sorted by \(order)") } else { say("there is nothing to sort here") }
        case .character("/"): prompt = Prompt(.search)
        case .character("F"): prompt = Prompt(.filter, filter?.text ?? "")
        case .character("w"): prompt = Prompt(.save, "report.csv")
        case .character(">"), .character("N"): find(forward: true)
        case .character("<"), .character("P"): find(forward: false)
        case .character(" "):
            if content.isLive { isPaused.toggle() } else { _ = page.handle(.pageDown) }
        case .character(let other): say("'\(other)' is no key here; h shows all keys")
        default: break
        }
        return nil
    }

    /// Lets the page have the key, unless the page would take it for what it is not.
    private mutating func handleInPage(_ key: Key) -> Bool {
        if key == .character(" "), content.isLive, !(page is TextView) { return false }
        return page.handle(key)
    }

    private mutating func sayNothingRuns() -> ScreenAction? {
        say("no program runs here: fathom top shows the calls that one is in")
        return nil
    }

    private mutating func show(base: Int) {
        pages = []
        self.base = base
    }

    private mutating func openGraph() {
        guard let function = page.currentFunction else { return say("there is no function on this line") }
        let order = TreeOrder.column(content.keepsTimes ? .total : .calls)
        pages.append(TreeView(.function(function), of: shown, bases[0].columns ?? [], by: order))
    }

    private mutating func openFunction() {
        guard let function = page.currentFunction else { return say("there is no function on this line") }
        let order = (bases[1] as? TableView)?.order
        let columns = bases[1].columns?.filter { $0 != .now } ?? []
        pages.append(FunctionView(function, shown, columns, by: order == .now ? .total : order))
    }

    // MARK: Prompts and choices

    private mutating func handleInPrompt(_ key: Key) -> ScreenAction? {
        switch prompt!.handle(key) {
        case .goesOn: return nil
        case .left:
            prompt = nil
            return nil
        case .given:
            let (purpose, text) = (prompt!.purpose, prompt!.text)
            prompt = nil
            switch purpose {
            case .search: search(for: text)
            case .filter: filter(by: text)
            case .save: return text.isEmpty ? nil : .save(text)
            }
            return nil
        }
    }

    private mutating func search(for text: String) {
        if text.isEmpty {
            search = nil
            return
        }
        do throws(Pattern.InvalidPattern) { search = try SearchText(text) } catch {
            return say(error.description, isError: true)
        }
        find(forward: true)
    }

    private mutating func find(forward: Bool) {
        guard let search else { return say("/ searches first") }
        if !page.search(search, forward: forward) { say("nothing matches '\(search.text)'") }
    }

    private mutating func filter(by text: String) {
        do throws(Pattern.InvalidPattern) { filter = text.isEmpty ? nil : try Pattern(text) } catch {
            return say(error.description, isError: true)
        }
        update(content)
        // Another tree is opened anew.
        if let tree = bases[0] as? TreeView { bases[0] = tree.again(shown) }
        if shown.tree.paths.isEmpty { say("no function matches '\(text)'; F changes that", isError: true) }
    }

    private mutating func chooseColumns() {
        guard let columns = page.columns else { return say("there are no columns here") }
        let all = ScreenColumn.allCases
        let chosen = all.indices.filter { columns.contains(all[$0]) }
        pages.append(
            ChoiceView(
                "columns", all.map { ScreenContent.Choice($0.rawValue) }, chosen: Set(chosen), isMultiple: true))
    }

    /// Enter takes what is chosen.
    ///
    /// - Returns: nil where the key means what it means elsewhere.
    private mutating func handleInChoice(_ key: Key) -> (value: ScreenAction?, Void)? {
        guard key == .enter, let choice = page as? ChoiceView else { return nil }
        pages.removeLast()
        if choice.isMultiple {
            let all = ScreenColumn.allCases
            page.columns = all.indices.filter(choice.chosen.contains).map { all[$0] }
            return (nil, ())
        }
        guard content.choices.indices.contains(choice.current), choice.current != content.chosen else {
            return (nil, ())
        }
        return (.choose(choice.current), ())
    }

    // MARK: The current function

    private mutating func edit() -> ScreenAction? {
        guard let id = page.currentFunction else {
            say("there is no function on this line")
            return nil
        }
        guard let file = shown.tree.functions[id].file else {
            say("where \(shown.tree.functions[id].name) is written is not known: no debug information tells (-g)")
            return nil
        }
        return .edit(file: file, line: max(shown.tree.functions[id].line, 1))
    }

    private mutating func showDetails() {
        guard let id = page.currentFunction else { return say("there is no function on this line") }
        let functions = shown.tree.functions
        let row = shown.rows.first { if case .function(id) = $0.subject { true } else { false } }
        let path = (page as? TreeView)?.currentPath.map { path in
            (names: path.functions.map { functions[$0].name }, row: path.row)
        }
        pages.append(TextView.details(functions[id], path: path, row: row, surroundings))
    }
}

// MARK: Lines

extension TraceScreen {
    /// What the terminal is to show: as many lines as it has, none wider than it is.
    public mutating func lines() -> [ScreenLine] {
        guard height > 0, width > 0 else { return [] }
        var lines = [title]
        let room = max(height - 3, 0)
        var body = Array(page.lines(width: width, height: room, search: search).prefix(room))
        body += Array(repeating: ScreenLine(width: width), count: room - body.count)
        lines += body
        if height > 2 { lines.append(place) }
        if height > 1 { lines.append(bottom) }
        return lines.map { $0.mapped(characters.shown) }
    }

    /// Where the cursor is to be, which shows only while something is typed.
    public var cursorColumn: Int? { prompt.map { min($0.label.columns + $0.text.columns, max(width - 1, 0)) } }

    private var title: ScreenLine {
        var line = ScreenLine(width: width)
        line.isHighlighted = true
        let parts = [
            content.title,
            content.choices.indices.contains(content.chosen) && content.chosen > 0
                ? content.choices[content.chosen].title : nil,
            filter.map { "only \($0.text)" }, page.name, content.status.isEmpty ? nil : content.status,
            isPaused ? "PAUSED" : nil,
        ]
        line.write((" " + parts.compactMap { $0 }.joined(separator: " · ")).shortened(to: width), .bold)
        return line
    }

    /// Where the current function is.
    private var place: ScreenLine {
        var line = ScreenLine(width: width)
        guard let id = page.currentFunction else { return line }
        let function = shown.tree.functions[id]
        var texts: [String] = []
        if let file = function.file { texts.append("\(surroundings.path(file)):\(max(function.line, 0))") }
        if let module = function.module { texts.append(PathText.name(module)) }
        line.write(("  " + texts.joined(separator: "  ")).shortened(to: width), .dim)
        return line
    }

    private var bottom: ScreenLine {
        if let prompt {
            // The end of what is typed is what is seen of it.
            let text = prompt.label + prompt.text
            return ScreenLine(text.columns < width ? text : String(text.suffix(max(width - 1, 0))), .bold, width: width)
        }
        if let message { return ScreenLine(message.text.shortened(to: width), message.style, width: width) }
        let hint =
            "Enter open  / search  r callers  g graph  Tab report  s sort  e edit  h help  q quit"
        return ScreenLine((content.isLive ? "Space pause  " : "") + hint, .dim, width: width)
    }
}
