internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceReports
internal import TraceScreen
internal import TraceSystem
internal import TraceText

/// Shows a ``TraceScreen`` on a terminal until the user quits.
struct ScreenLoop {
    let terminal: CursesTerminal
    /// Which parts of times a report that is saved has.
    var split = SplitTimes()

    /// - Parameters:
    ///   - choose: makes the screen show another process or thread.
    ///   - wait: returns how long to wait for a key, in ms, before `refresh` is called.
    ///   - refresh: brings the screen up to date.
    func run(
        _ screen: inout TraceScreen, choose: (Int, inout TraceScreen) throws -> Void, wait: () -> Int = { 1000 },
        refresh: (inout TraceScreen) throws -> Void = { _ in }
    ) throws {
        while true {
            show(&screen)
            let input = terminal.input(within: wait())
            if case .key(.control("l"))? = input {
                terminal.forget()
            } else if case .key(let key)? = input, let action = screen.handle(key) {
                if action == .quit { return }
                try perform(action, &screen, choose)
            }
            try refresh(&screen)
        }
    }

    func show(_ screen: inout TraceScreen) {
        let size = terminal.size
        screen.resize(columns: size.columns, rows: size.rows)
        terminal.show(screen.lines(), cursorColumn: screen.cursorColumn)
    }

    /// Shows how far reading is, on a screen that shows nothing else yet.
    ///
    /// - Returns: Whether to go on; false when the user quits.
    func showProgress(_ title: String, _ part: Double) -> Bool {
        let size = terminal.size
        let text = "\(title): reading, \(Int(part * 100)) %  (q quits)"
        var lines = Array(repeating: ScreenLine("", width: size.columns), count: max(size.rows, 0))
        if !lines.isEmpty { lines[lines.count / 2] = ScreenLine("  " + text, width: size.columns) }
        terminal.show(lines, cursorColumn: nil)
        return terminal.input(within: 0) != .key(.character("q"))
    }

    private func perform(
        _ action: ScreenAction, _ screen: inout TraceScreen, _ choose: (Int, inout TraceScreen) throws -> Void
    ) throws {
        switch action {
        case .quit: break
        case .edit(let file, let line):
            if let problem = Editor.problem(with: file) { return screen.say(problem, isError: true) }
            var problem: String?
            terminal.lend { problem = Editor.open(file, line: line) }
            if let problem { screen.say(problem, isError: true) }
        case .choose(let choice): try choose(choice, &screen)
        case .save(let name): save(name, &screen)
        }
    }

    /// Writes the report to a file, in the format that the end of its name stands for.
    private func save(_ name: String, _ screen: inout TraceScreen) {
        guard access(name, F_OK) != 0 else {
            return screen.say("\(name): exists already, and is left as it is; give another name", isError: true)
        }
        let format: TableReport.Format = name.hasSuffix(".csv") ? .csv : name.hasSuffix(".json") ? .json : .text
        let (rows, tree) = (screen.report.rows, screen.report.tree)
        let report = TableReport(
            SummedRows(.functions, rows, of: tree),
            order: ReportOrder(rawValue: screen.report.order) ?? .number(.total),
            split: split)
        do throws(SystemError) {
            let file = try NewFile(replacing: name)
            let writer = ByteWriter { file.write($0) }
            report.write(format, to: writer)
            writer.flush()
            try file.commit()
            screen.say("\(name): \(CountText.grouped(UInt64(rows.count))) rows written")
        } catch {
            screen.say(error.description, isError: true)
        }
    }
}
