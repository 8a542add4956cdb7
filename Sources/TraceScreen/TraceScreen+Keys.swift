internal import TraceAnalysis
internal import TraceText

// Handles keys.
extension TraceScreen {
    /// Does what a key stands for.
    ///
    /// - Returns: What the caller is to do, because a screen cannot; nil when nothing is left to do.
    public mutating func handle(_ key: Key) -> ScreenAction? {
        message = nil
        if prompt != nil { return handleInPrompt(key) }
        if page is ChoiceView, let action = handleInChoice(key) { return action.value }
        if handleInPage(key) { return nil }
        switch key {
        case .character("q") where page is TextView: pages.removeLast()
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
        let all = content.columns
        let chosen = all.indices.filter { columns.contains(all[$0]) }
        pages.append(
            ChoiceView(
                "columns", all.map { ScreenContent.Choice($0.heading(content.numbers)) }, chosen: Set(chosen),
                isMultiple: true))
    }

    /// Enter takes what is chosen.
    ///
    /// - Returns: nil where the key means what it means elsewhere.
    private mutating func handleInChoice(_ key: Key) -> (value: ScreenAction?, Void)? {
        guard key == .enter, let choice = page as? ChoiceView else { return nil }
        pages.removeLast()
        if choice.isMultiple {
            let all = content.columns
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
        pages.append(TextView.details(functions[id], path: path, row: row, content.numbers.counted, surroundings))
    }
}
