extension TextView {
    /// All keys.
    static func help(isLive: Bool) -> TextView {
        var lines: [(text: String, style: ScreenStyle)] = []
        for (heading, keys) in TextView.keys where isLive || heading != liveHeading {
            if !lines.isEmpty { lines.append(("", .plain)) }
            lines.append((heading, .bold))
            for (key, meaning) in keys {
                lines.append(("  \(key)\(String(repeating: " ", count: max(20 - key.count, 1)))\(meaning)", .plain))
            }
        }
        return TextView("help", lines)
    }

    private static let liveHeading = "A running program"

    private static let keys: [(heading: String, keys: [(key: String, meaning: String)])] = [
        (
            "Moving",
            [
                ("Up Down, k j", "one line"), ("PageUp PageDown", "one screen"), ("Home End", "first or last line"),
                ("z", "the current line to the middle"), ("n p", "next or previous callee of the same caller"),
                ("u", "the caller"), ("l", "the callee with the most time"),
            ]
        ),
        (
            "Opening and closing",
            [
                ("Enter", "open or close; in a table, callers and callees"), ("Right Left, + -", "open, close"),
                ("x c", "open or close each callee"), ("E C", "open or close all that lies below"),
            ]
        ),
        (
            "Views",
            [
                ("G", "the whole call tree"), ("R", "the report: a line for each function"),
                ("Tab", "change between the two"),
                ("g", "graph of the current function: what leads to it, and what it leads to"),
                ("r", "report of the current function: its callers and callees; Tab goes between them"),
                ("v", "details of the current line, with the source"), ("S", "choose a process or thread"),
                ("I", "what the recording holds"), ("Escape", "back to the view before"), ("h ?", "this help"),
            ]
        ),
        (
            "Finding and choosing",
            [
                ("/", "search: a part of a name, a glob, or /regex/; the tree is opened where it has to be"),
                ("N >", "next match"), ("P <", "previous match"),
                ("F", "only functions of a pattern, and what they call; empty for all"),
                ("s", "sort by the next column"),
                ("f", "choose the columns; Space changes one, Enter takes them"),
            ]
        ),
        (
            "Out of here",
            [
                ("e O", "the source in an editor: VISUAL, EDITOR or vi"), ("w", "write the table to a file"),
                ("Ctrl-L", "draw the screen anew"), ("q", "quit; from such a text, back"),
            ]
        ),
        (
            liveHeading,
            [
                ("Space", "pause, and go on; what happens meanwhile is not lost"),
                ("o", "the calls that each thread is in, with the time since each began"),
            ]
        ),
    ]
}
