public import TraceAnalysis
internal import TraceFile
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
        public var layout = TextLayout()
        /// Where calls are samples of the stacks, the time that a sample stands for, in ns.
        public var samplePeriod: UInt64?
        /// Whether there are times, and not only numbers of calls.
        public var keepsTimes = true
        /// Whether it is known when threads had no CPU.
        public var split = SplitTimes()

        public init() {}
    }

    /// What is told before a name.
    private enum Column: String {
        case percent, bar, total, `self`, blocked, calls

        static let all: [Column] = [.percent, .bar, .total, .self, .blocked, .calls]
        static let barWidth = 10

        var heading: String { self == .bar ? "" : rawValue }
        var width: Int {
            switch self {
            case .percent: 8
            // 999,999,999
            case .calls: 12
            default: 11
            }
        }
    }

    private let writer: ByteWriter
    private let options: Options
    private var layout: TextLayout { options.layout }
    private var columns: [Column] = []
    /// Columns before the name of a root.
    private var nameColumn = 0
    private var indentedLevels = 0
    private var shown = 0
    /// Lines beyond the limit.
    private var more = 0
    private var hasMarks = false
    /// Where colours tell it.
    private var waits: PathWaits?

    public init(_ writer: ByteWriter, options: Options) {
        self.writer = writer
        self.options = options
    }

    private mutating func choose(isBlocked: Bool) {
        // A tree's names stand far to the right. A tenth of the screen tells a share as well as ten tenths.
        let known: [Column] = options.keepsTimes ? Column.all.filter { $0 != .blocked || isBlocked } : [.calls]
        let kept = options.layout.chosen(of: known, dropping: [.bar, .calls], names: .max) { $0.width }
        columns = options.layout.chosen(of: kept, dropping: [.self, .blocked, .total], names: TextLayout.shortestName) {
            $0.width
        }
        nameColumn = columns.reduce(2) { $0 + $1.width }
        indentedLevels = options.layout.indentedLevels(behind: nameColumn)
    }

    private var wantsMore: Bool { shown < options.limit }

    /// Prints a line above a tree.
    public func write(title: String) {
        writer.write(in: layout.style(.bold)) { writer.write(title) }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// Prints all of `tree`, the longest callees of a path first.
    ///
    /// - Complexity: O(n log n) in the number of paths.
    public mutating func write(_ tree: CallPathTree) {
        (shown, more, hasMarks) = (0, 0, false)
        waits = layout.isColoured ? PathWaits(of: tree) : nil
        let blocked = tree.roots.reduce(UInt64(0)) { $0 &+ tree.paths[$1].sums.blocked }
        choose(isBlocked: options.split.tellsWaits(blocked, in: tree.total))
        let times = TimesText(tree.cost, samplePeriod: options.samplePeriod, areKept: options.keepsTimes)
        writer.write(in: layout.style(.bold)) {
            for column in columns {
                let heading = column == .calls ? times.calls : column.heading
                writer.write(spaces: column.width - heading.utf8.count)
                writer.write(heading)
            }
            let (name, remark) = layout.fit("function", times.headings, behind: nameColumn)
            writer.write("  \(name)\(remark)")
        }
        writer.write(byte: UInt8(ascii: "\n"))
        let whole = tree.total
        var open = [pending(tree.roots, of: tree, whole)]
        while let level = open.last, !writer.isClosed {
            guard level.next < level.shown.count else {
                writeSums(of: level, depth: open.count - 1)
                open.removeLast()
                continue
            }
            open[open.count - 1].next += 1
            let index = level.shown[level.next]
            if wantsMore { writeLine(tree, index, depth: open.count - 1, whole) } else { more += 1 }
            var callees = pending(tree.callees(of: index), of: tree, whole)
            callees.dropped = tree.paths[index].sums.dropped
            open.append(callees)
        }
        if more > 0 { writer.write(TextLayout.more(more)) }
        if hasMarks { writer.write(layout.sentence(TimesText.legend)) }
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
        let share = Double(whole) * options.threshold
        for index in paths {
            let sums = tree.paths[index].sums
            if Double(sums.total) >= share, tree.isLong(index, least: options.minCost) {
                level.shown.append(index)
            } else {
                level.foldedPaths += 1
                level.folded.calls &+= sums.calls
                level.folded.time &+= sums.total
            }
        }
        func size(_ path: Int) -> UInt64 {
            options.keepsTimes ? tree.paths[path].sums.total : tree.paths[path].sums.calls
        }
        level.shown.sort { (size($0), $1) > (size($1), $0) }
        return level
    }

    private mutating func writeLine(_ tree: CallPathTree, _ index: Int, depth: Int, _ whole: UInt64) {
        shown += 1
        let sums = tree.paths[index].sums
        // Hundredths of a percent.
        let share = whole == 0 ? 0 : UInt64((Double(sums.total) / Double(whole) * 10_000).rounded())
        for column in columns {
            switch column {
            case .percent: writePercent(share)
            case .bar: writeBar(share)
            case .total: writer.write(time: sums.total, width: column.width)
            case .self:
                let offCPU = waits?.own(index) ?? OffCPUTimes()
                let running = sums.selfTime &- offCPU.blocked &- offCPU.runnable
                writer.write(in: layout.waiting(offCPU, in: sums.selfTime) ?? layout.heat(running, of: whole)) {
                    writer.write(time: sums.selfTime, width: column.width)
                }
            case .blocked: writer.write(time: sums.blocked, width: column.width)
            case .calls: writer.write(grouped: sums.calls, width: column.width)
            }
        }
        let indentation = indentation(depth)
        writer.write(spaces: 1 + indentation)
        let isReliable = sums.isReliable || !options.keepsTimes
        writer.write(isReliable ? " " : TimesText.mark)
        if !isReliable { hasMarks = true }
        let inherited = sums.inherited > 0 ? " (\(String(time: sums.inherited)) inherited)" : ""
        let name = tree.functions[tree.paths[index].function].name
        let taken = nameColumn + indentation + inherited.columns
        let room = (layout.width ?? .max) - taken - deeper(depth).columns
        // Where there is no room for template arguments, none are shown, as in frames.
        let label = name.columns <= room ? name : FlameLabel.folded(name)
        writer.write(layout.fit(deeper(depth) + label, behind: taken).name)
        writer.write(inherited)
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func writePercent(_ share: UInt64) {
        writer.write(decimal: share / 100, width: 4)
        writer.write(byte: UInt8(ascii: "."))
        writer.write(decimal: share % 100 / 10)
        writer.write(decimal: share % 10)
        writer.write("%" as StaticString)
    }

    /// A bar of ten columns, behind a space, for `share` hundredths of a percent, to an eighth of a column.
    private func writeBar(_ share: UInt64) {
        let eighths = Int(min(share, 10_000) * UInt64(Column.barWidth) * 8 / 10_000)
        writer.write(byte: UInt8(ascii: " "))
        writer.write(bar: eighths, width: Column.barWidth)
    }

    /// What is summed up of a path's callees.
    private mutating func writeSums(of level: Level, depth: Int) {
        if level.foldedPaths > 0 {
            writeSum(depth) { writer in
                writer.write("… " as StaticString)
                writer.write(grouped: UInt64(level.foldedPaths))
                writer.write(" more, " as StaticString)
                writer.write(level.folded)
            }
        }
        if level.dropped.calls > 0 {
            writeSum(depth) { writer in
                writer.write("… " as StaticString)
                writer.write(level.dropped)
                writer.write(" (not recorded)" as StaticString)
            }
        }
    }

    private mutating func writeSum(_ depth: Int, _ body: (ByteWriter) -> Void) {
        guard wantsMore else { return more += 1 }
        shown += 1
        writer.write(spaces: layout.sumColumn(nameColumn + indentation(depth)))
        writer.write(in: layout.style(.dim)) { body(writer) }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func indentation(_ depth: Int) -> Int { 2 * min(depth, indentedLevels) }

    /// How many levels a line stands below where it is indented to.
    private func deeper(_ depth: Int) -> String { depth > indentedLevels ? "+\(depth - indentedLevels) " : "" }
}
