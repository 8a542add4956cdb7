public import TraceAnalysis
public import TraceText

/// Prints call paths as an indented tree. It shows what part of the time each takes, as a number and as a bar.
public struct GraphText {
    /// What is shown of the paths.
    public struct Options: Sendable {
        /// Paths that take less than this part of the whole are summed up in one line for each caller; 0...1.
        public var threshold = 0.01
        /// In ns: paths of less total time are summed up, too.
        public var minCost: UInt64 = 0
        /// Lines to show of each tree.
        public var limit = Int.max

        public init() {}
    }

    private let writer: ByteWriter
    private let options: Options
    private var shown = 0
    private var hasMarks = false

    private static let barWidth = 10
    /// Columns before the name.
    private static let nameColumn = 8 + 1 + barWidth + 11 + 11 + 11 + 2

    public init(_ writer: ByteWriter, options: Options) {
        self.writer = writer
        self.options = options
    }

    private var wantsMore: Bool { shown < options.limit && !writer.isClosed }

    /// Prints a line above a tree.
    public func write(title: String) { writer.write("\(title)\n") }

    /// Prints all of `tree`, the longest callees of a path first.
    ///
    /// - Complexity: O(n log n) in the number of paths.
    public mutating func write(_ tree: CallPathTree) {
        shown = 0
        hasMarks = false
        writer.write(" percent             total       self      calls  function \(TimesText(tree.cost).heading)\n")
        let whole = tree.total
        var open = [pending(tree.roots, of: tree, whole)]
        while wantsMore, let level = open.last {
            guard level.next < level.shown.count else {
                if level.foldedPaths > 0 { writeFolded(level, depth: open.count - 1) }
                if level.dropped.calls > 0, wantsMore { writeDropped(level.dropped, depth: open.count - 1) }
                open.removeLast()
                continue
            }
            open[open.count - 1].next += 1
            let index = level.shown[level.next]
            writeLine(tree, index, depth: open.count - 1, whole)
            var callees = pending(tree.callees(of: index), of: tree, whole)
            callees.dropped = tree.paths[index].sums.dropped
            open.append(callees)
        }
        if hasMarks { writer.write(TimesText.legend) }
    }

    /// The callees of one path. Those that are to be shown are sorted.
    private struct Level {
        var shown: [Int] = []
        var next = 0
        var foldedPaths = 0
        var folded = CallSum()
        /// Callees that the record options left out.
        var dropped = CallSum()
    }

    private func pending(_ paths: CallPathTree.Siblings, of tree: CallPathTree, _ whole: UInt64) -> Level {
        var level = Level()
        let least = max(Double(options.minCost), Double(whole) * options.threshold)
        for index in paths {
            let sums = tree.paths[index].sums
            if Double(sums.total) >= least {
                level.shown.append(index)
            } else {
                level.foldedPaths += 1
                level.folded.calls &+= sums.calls
                level.folded.time &+= sums.total
            }
        }
        level.shown.sort { (tree.paths[$0].sums.total, $1) > (tree.paths[$1].sums.total, $0) }
        return level
    }

    private mutating func writeLine(_ tree: CallPathTree, _ index: Int, depth: Int, _ whole: UInt64) {
        shown += 1
        let sums = tree.paths[index].sums
        // Hundredths of a percent.
        let share = whole == 0 ? 0 : UInt64((Double(sums.total) / Double(whole) * 10_000).rounded())
        writer.write(decimal: share / 100, width: 4)
        writer.write(byte: UInt8(ascii: "."))
        writer.write(decimal: share % 100 / 10)
        writer.write(decimal: share % 10)
        writer.write("% " as StaticString)
        writeBar(share)
        writer.write(time: sums.total, width: 11)
        writer.write(time: sums.selfTime, width: 11)
        writer.write(decimal: sums.calls, width: 11)
        writer.write(spaces: 1 + indentation(depth))
        writer.write(byte: sums.isReliable ? UInt8(ascii: " ") : TimesText.mark)
        if !sums.isReliable { hasMarks = true }
        writer.write(tree.functions[tree.paths[index].function].name)
        if sums.inherited > 0 {
            writer.write(" (" as StaticString)
            writer.write(time: sums.inherited)
            writer.write(" inherited)" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// A bar of ten columns for `share` hundredths of a percent, to an eighth of a column.
    private func writeBar(_ share: UInt64) {
        let eighths = Int(min(share, 10_000) * UInt64(GraphText.barWidth) * 8 / 10_000)
        for _ in 0..<eighths / 8 { writer.write("█" as StaticString) }
        let rest = eighths % 8
        if rest > 0 { writer.write(["▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest - 1] as StaticString) }
        writer.write(spaces: GraphText.barWidth - eighths / 8 - (rest > 0 ? 1 : 0))
    }

    private mutating func writeFolded(_ level: Level, depth: Int) {
        shown += 1
        writer.write(spaces: GraphText.nameColumn + indentation(depth))
        writer.write("… " as StaticString)
        writer.write(decimal: UInt64(level.foldedPaths))
        writer.write(" more, " as StaticString)
        writer.write(level.folded)
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private mutating func writeDropped(_ dropped: CallSum, depth: Int) {
        shown += 1
        writer.write(spaces: GraphText.nameColumn + indentation(depth))
        writer.write("… " as StaticString)
        writer.write(dropped)
        writer.write(" (not recorded)\n" as StaticString)
    }

    private func indentation(_ depth: Int) -> Int { 2 * min(depth, Int(TreeText.indentedLevels)) }
}
