internal import ArgumentParser
internal import CNcurses
internal import Glibc
internal import TraceScreen
internal import TraceText

/// A terminal that shows a whole screen and passes keys on, by ncurses.
final class CursesTerminal {
    private let screen: OpaquePointer
    private let hasColours: Bool
    private var isOpen = true
    /// What the terminal can show.
    let characters: Characters

    /// The numbers of the colours' pairs.
    private enum Pair: Int16 { case hot = 1, warm, found }

    /// Takes the terminal.
    ///
    /// - Parameter command: what needs it, as in `fathom browse`.
    init(for command: String, otherwise advice: String, _ colours: ScreenOptions.Colours) throws {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw Diagnostics.fail("\(command) needs a terminal; \(advice)", .wrongUsage)
        }
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        if kind.isEmpty || kind == "dumb" {
            throw Diagnostics.fail(
                "\(command) needs a terminal that can move its cursor, and TERM is '\(kind)'; \(advice)", .failed)
        }
        setlocale(LC_ALL, "")
        characters = String(cString: fathom_curses_codeset()) == "UTF-8" ? .all : .ascii
        TerminalRescue.remember()
        guard let screen = fathom_curses_begin() else {
            throw Diagnostics.fail("there is no description of the terminal '\(kind)' here (TERM); \(advice)", .failed)
        }
        self.screen = screen
        TerminalRescue.arm()
        Diagnostics.isTerminalTaken = true
        cbreak()
        noecho()
        nonl()
        keypad(fathom_curses_window(), true)
        curs_set(0)
        set_escdelay(25)
        let isWanted: Bool =
            switch colours {
            case .always: true
            case .never: false
            // https://no-color.org
            case .auto: getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
            }
        hasColours = isWanted && has_colors()
        if hasColours {
            start_color()
            use_default_colors()
            init_pair(Pair.hot.rawValue, Int16(COLOR_RED), -1)
            init_pair(Pair.warm.rawValue, Int16(COLOR_YELLOW), -1)
            init_pair(Pair.found.rawValue, Int16(COLOR_GREEN), -1)
        }
    }

    deinit { close() }

    /// Gives the terminal back as it was, and says what was to be said meanwhile.
    func close() {
        guard isOpen else { return }
        isOpen = false
        endwin()
        TerminalRescue.disarm()
        delscreen(screen)
        Diagnostics.isTerminalTaken = false
        Diagnostics.sayHeld()
    }

    /// Lets another program have the terminal, as long as `body` runs.
    func lend(_ body: () -> Void) {
        def_prog_mode()
        endwin()
        body()
        reset_prog_mode()
        clearok(fathom_curses_window(), true)
    }

    var size: (columns: Int, rows: Int) {
        (Int(getmaxx(fathom_curses_window())), Int(getmaxy(fathom_curses_window())))
    }

    /// Draws everything anew with the next ``show(_:cursorColumn:)``, whatever is on the screen.
    func forget() { clearok(fathom_curses_window(), true) }

    // MARK: Lines

    /// - Parameter cursorColumn: where the cursor is in the last line; nil for none.
    func show(_ lines: [ScreenLine], cursorColumn: Int?) {
        let window = fathom_curses_window()
        werase(window)
        for (row, line) in lines.enumerated() {
            wmove(window, Int32(row), 0)
            for span in line.spans {
                set(span.style, isHighlighted: line.isHighlighted)
                waddnstr(window, span.text, -1)
            }
            guard line.isHighlighted else { continue }
            set(.plain, isHighlighted: true)
            waddnstr(window, String(repeating: " ", count: max(line.width - line.columns, 0)), -1)
        }
        curs_set(cursorColumn == nil ? 0 : 1)
        if let cursorColumn { wmove(window, Int32(lines.count - 1), Int32(cursorColumn)) }
        wrefresh(window)
    }

    /// Sets the style of what is written next.
    private func set(_ style: ScreenStyle, isHighlighted: Bool) {
        var styles: UInt32 = isHighlighted ? fathom_curses_reverse.rawValue : 0
        var pair: Pair?
        switch style {
        case .plain: break
        case .bold: styles |= fathom_curses_bold.rawValue
        // What stands out as a whole is not dimmed.
        case .dim: styles |= isHighlighted ? 0 : fathom_curses_dim.rawValue
        case .hot: if hasColours { pair = .hot } else { styles |= fathom_curses_bold.rawValue }
        case .warm: pair = .warm
        case .found: if hasColours { pair = .found } else { styles |= fathom_curses_underline.rawValue }
        }
        fathom_curses_set(Int32(styles), hasColours ? Int32(pair?.rawValue ?? 0) : 0)
    }

    // MARK: Keys

    enum Input: Equatable {
        case key(Key)
        case resized
    }

    /// Waits for a key, at most `milliseconds`.
    func input(within milliseconds: Int) -> Input? {
        let window = fathom_curses_window()
        wtimeout(window, Int32(clamping: milliseconds))
        var code: wint_t = 0
        switch wget_wch(window, &code) {
        case OK: return Unicode.Scalar(UInt32(code)).map { .key(CursesTerminal.key($0)) }
        case KEY_CODE_YES:
            if Int32(bitPattern: UInt32(code)) == KEY_RESIZE { return .resized }
            return CursesTerminal.keys[Int32(bitPattern: UInt32(code))].map { .key($0) }
        default: return nil
        }
    }

    private static func key(_ scalar: Unicode.Scalar) -> Key {
        switch scalar.value {
        case 0x0a, 0x0d: .enter
        case 0x1b: .escape
        case 0x08, 0x7f: .backspace
        case 0x09: .tab
        case 0x01...0x1a: .control(Unicode.Scalar(scalar.value + 0x60)!)
        default: .character(scalar)
        }
    }

    private static let keys: [Int32: Key] = [
        KEY_UP: .up, KEY_DOWN: .down, KEY_LEFT: .left, KEY_RIGHT: .right, KEY_PPAGE: .pageUp, KEY_NPAGE: .pageDown,
        KEY_HOME: .home, KEY_END: .end, KEY_ENTER: .enter, KEY_BACKSPACE: .backspace, KEY_BTAB: .backTab,
    ]
}
