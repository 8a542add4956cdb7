internal import TraceAnalysis
internal import TraceText

/// Prints the paths below a function as an indented tree, with what each adds to the function's slowest calls.
struct TailTreeText {
    /// What is told before a name. Times are means over the function's calls.
    private enum Column: String {
        case adds, part, own, typical, slow, calls

        static let all: [Column] = [.adds, .part, .own, .typical, .slow, .calls]
        /// Those that may give way to names, the first one first.
        static let firstToGo: [Column] = [.calls, .typical, .slow]

        var width: Int {
            switch self {
            case .part: 9
            case .calls: 15
            default: 11
            }
        }
    }

    private let report: TailReport
    private let writer: ByteWriter
    private let columns: [Column]
    /// Columns before the name of a root.
    private let nameColumn: Int
    private let indentedLevels: Int
    private var shown = 0
    /// Lines beyond the limit.
    private var more = 0
    private var tail: TailComparison { report.tail }
    private var layout: TextLayout { report.options.layout }

    init(_ report: TailReport, _ writer: ByteWriter) {
        self.report = report
        self.writer = writer
        let layout = report.options.layout
        columns = layout.chosen(of: Column.all, dropping: Column.firstToGo, names: .max) { $0.width }
        nameColumn = columns.reduce(2) { $0 + $1.width }
        indentedLevels = layout.indentedLevels(behind: nameColumn)
    }

    /// Callees of one path that are to be shown, those first that add most, and the sum of the others.
    private struct Level {
        var shown: [Int] = []
        var next = 0
        var folded = 0
        var foldedDifference = 0.0
    }

    /// - Complexity: O(n log n) in the number of paths.
    mutating func write() {
        writer.write(in: layout.style(.bold)) {
            for column in columns {
                writer.write(spaces: column.width - column.rawValue.utf8.count)
                writer.write(column.rawValue)
            }
            writer.write("  function" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        var open = [level(tail.roots)]
        while let level = open.last, !writer.isClosed {
            guard level.next < level.shown.count else {
                writeSum(of: level, depth: open.count - 1)
                open.removeLast()
                continue
            }
            open[open.count - 1].next += 1
            write(level.shown[level.next], depth: open.count - 1)
            open.append(self.level(tail.callees(of: level.shown[level.next])))
        }
        if more > 0 { writer.write(TextLayout.more(more)) }
    }

    private func level(_ paths: CallPathTree.Siblings) -> Level {
        let least = max(Double(report.options.minCost), abs(tail.difference) * report.options.threshold)
        var level = Level()
        var differences: [Int: Double] = [:]
        for index in paths {
            let difference = tail.path(index).difference
            if abs(difference) >= least {
                level.shown.append(index)
                differences[index] = difference
            } else {
                level.folded += 1
                level.foldedDifference += difference
            }
        }
        level.shown.sort { (differences[$0] ?? 0, $1) > (differences[$1] ?? 0, $0) }
        return level
    }

    private mutating func write(_ index: Int, depth: Int) {
        guard shown < report.options.lines else { return more += 1 }
        shown += 1
        let path = tail.path(index)
        for column in columns {
            switch column {
            case .adds: writer.write(mean: path.difference, width: column.width)
            case .part: writer.write(percent: report.part(path.difference), width: column.width)
            case .own:
                let style = layout.heat(UInt64(max(path.ownDifference, 0)), of: UInt64(max(tail.difference, 0)))
                writer.write(in: style) { writer.write(mean: path.ownDifference, width: column.width) }
            case .typical: writer.write(mean: path.typical.total, width: column.width)
            case .slow: writer.write(mean: path.slow.total, width: column.width)
            case .calls:
                let text = "\(Self.number(path.typical.calls)) → \(Self.number(path.slow.calls))"
                writer.write(spaces: column.width - text.columns)
                writer.write(text)
            }
        }
        let indentation = 2 * min(depth, indentedLevels)
        writer.write(spaces: 2 + indentation)
        let deeper = depth > indentedLevels ? "+\(depth - indentedLevels) " : ""
        let name = deeper + tail.functions[path.function].name
        writer.write(layout.fit(name, behind: nameColumn + indentation).name)
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private mutating func writeSum(of level: Level, depth: Int) {
        guard level.folded > 0 else { return }
        guard shown < report.options.lines else { return more += 1 }
        shown += 1
        writer.write(spaces: nameColumn + 2 * min(depth, indentedLevels))
        writer.write(in: layout.style(.dim)) {
            writer.write("… \(level.folded) more, ")
            writer.write(mean: level.foldedDifference, width: 0)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// A mean number of calls: `12.5`, `0.02`, `1,200`.
    private static func number(_ calls: Double) -> String {
        if calls == calls.rounded() || calls >= 1000 { return CountText.grouped(UInt64(calls.rounded())) }
        return CountText.fixed(calls, calls < 10 ? 2 : 1)
    }
}

extension ByteWriter {
    /// Writes a mean time, or a difference of two, in ns.
    func write(mean: Double, width: Int) {
        let text = (mean <= -0.5 ? "-" : "") + String(time: UInt64(abs(mean).rounded()))
        write(spaces: width - text.utf8.count)
        write(text)
    }

    /// Writes a part of a whole: `49.8 %`.
    func write(percent part: Double, width: Int) {
        let text = (part <= -0.0005 ? "-" : "") + CountText.fixed(abs(part) * 100, 1) + " %"
        write(spaces: width - text.utf8.count)
        write(text)
    }
}
