internal import TraceAnalysis
internal import TraceText

extension TextView {
    /// All that is known of a line's function: where it is, what its calls add up to, exactly, and its source.
    ///
    /// - Parameters:
    ///   - path: the functions of the line's path, the root's first, and what the path's calls add up to; nil where the line is
    ///     of no path.
    ///   - row: what all calls of the function add up to.
    ///   - counted: what these are: `calls` or `samples`.
    static func details(
        _ function: ResolvedFunction, path: (names: [String], row: AggregateRow)?, row: AggregateRow?,
        _ counted: String, _ surroundings: ScreenSurroundings
    ) -> TextView {
        var lines: [(text: String, style: ScreenStyle)] = [(function.name, .bold), ("", .plain)]
        func say(_ text: String, _ style: ScreenStyle = .plain) { lines.append((text, style)) }
        if let module = function.module { say("module     " + surroundings.path(module)) }
        if let file = function.file {
            say("source     \(surroundings.path(file)):\(max(function.line, 0))")
        } else {
            say("source     not known: the module has no debug information of it")
        }
        if !function.isKnown { say("name       no symbol has this address") }
        if let row { lines += numbers("all \(counted)", row, counted) }
        if let path {
            lines += numbers("\(counted) of this path", path.row, counted)
            say("")
            say("path", .bold)
            for name in path.names { say("    " + name) }
        }
        if let file = function.file, function.line > 0 {
            say("")
            if let (first, source) = surroundings.source(file, function.line) {
                let digits = String(first + max(source.count - 1, 0)).count
                for (index, text) in source.enumerated() {
                    let number = String(first + index)
                    let padding = String(repeating: " ", count: digits - number.count)
                    say("\(padding)\(number)  \(text)", first + index == function.line ? .bold : .plain)
                }
            } else {
                say("\(surroundings.path(file)) cannot be read here", .dim)
            }
        }
        return TextView("details of " + function.name, lines)
    }

    private static func numbers(
        _ heading: String, _ row: AggregateRow, _ counted: String
    ) -> [(text: String, style: ScreenStyle)] {
        var lines: [(text: String, style: ScreenStyle)] = [
            ("", .plain), (heading, .bold),
            ("    \(counted)\(counted.count < 6 ? "    " : "  ")\(CountText.grouped(row.calls))", .plain),
        ]
        let times = [
            ("total", row.total), ("self", row.selfTime), ("avg", row.average), ("min", row.minimum),
            ("max", row.maximum),
            ("p50", row.percentiles.p50), ("p90", row.percentiles.p90), ("p99", row.percentiles.p99),
            ("inherited", row.inherited), ("suspended", row.suspended),
        ]
        for (name, time) in times
        where (time > 0 || !["inherited", "suspended"].contains(name))
            && (counted == ScreenColumn.calls.rawValue || ["total", "self"].contains(name))
        {
            let padding = String(repeating: " ", count: max(9 - name.count, 1))
            lines.append(("    \(name)\(padding)\(CountText.grouped(time)) ns", .plain))
        }
        if !row.isReliable { lines.append(("    ≈ more hooks than function: its times are not to be relied on", .dim)) }
        return lines
    }
}
