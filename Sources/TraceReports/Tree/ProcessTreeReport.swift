public import TraceAnalysis
internal import TraceFile
public import TraceText

/// Tells which process of a session came from which, what each was called, and what it recorded.
public struct ProcessTreeReport {
    /// What is shown of the processes.
    public struct Options: Sendable {
        /// In ns: processes that lasted less are summed up in one line for each parent, unless one below them lasted
        /// longer.
        public var minCost: UInt64 = 0
        /// Whether children that are alike, and have no children themselves, become one line.
        public var folds = true
        /// Lines to show.
        public var limit = Int.max
        public var layout = TextLayout()

        public init() {}
    }

    /// Columns before the name of a root: calls, when it began, how long it lasted.
    private static let nameColumn = 10 + 11 + 11 + 2

    private let writer: ByteWriter
    private let tree: ProcessTree
    private let options: Options
    private let indentedLevels: Int
    /// By process, whether it or one below it lasts long enough.
    private var isKept: [Bool]

    public init(_ writer: ByteWriter, _ tree: ProcessTree, options: Options = Options()) {
        self.writer = writer
        self.tree = tree
        self.options = options
        indentedLevels = options.layout.indentedLevels(behind: ProcessTreeReport.nameColumn)
        isKept = tree.nodes.map { $0.duration >= options.minCost }
        var pending = tree.roots.map { ($0, isLeaving: false) }
        while let (index, isLeaving) = pending.popLast() {
            if isLeaving {
                if isKept[index], let parent = tree.nodes[index].parent { isKept[parent] = true }
            } else {
                pending.append((index, true))
                pending += tree.nodes[index].children.map { ($0, false) }
            }
        }
    }

    public func write(_ format: ReportFormat) {
        switch format {
        case .text: writeText()
        case .json: writeJSON()
        }
    }

    // MARK: Text

    /// A line of the tree.
    private struct Line {
        enum Subject {
            /// Processes that are alike. This is the first of them.
            case process(Int)
            /// A process that started others and was not recorded.
            case starter(pid: UInt32)
            /// Processes that did not last long enough.
            case hidden
        }

        var subject: Subject
        var depth: Int
        /// The number of processes that the line stands for.
        var processes: UInt64 = 1
        var calls: UInt64 = 0
        var duration: UInt64 = 0
        /// What is below it, in order.
        var children: [Int] = []
    }

    /// As text for people, a process a line, indented below its parent.
    private func writeText() {
        writer.write(in: options.layout.style(.bold)) {
            writer.write("     calls      began     lasted  process" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        var shown = 0
        var left: UInt64 = 0
        var pending = Array(roots.reversed())
        while let line = pending.popLast(), !writer.isClosed {
            if shown < options.limit {
                write(line)
                shown += 1
            } else {
                left += line.processes
            }
            pending += lines(of: line.children, depth: line.depth + 1).reversed()
        }
        if left > 0 { writer.write(TextLayout.more(Int(clamping: left), "processes")) }
    }

    /// The roots. Several that were started by one process that was not recorded are together below a line for that process.
    private var roots: [Line] {
        let started = Dictionary(grouping: tree.roots) { tree.nodes[$0].process.parentPID }
        var told: Set<UInt32> = []
        var result: [Line] = []
        var alone: [Int] = []
        for root in tree.roots {
            let process = tree.nodes[root].process
            let others = started[process.parentPID] ?? []
            if process.metadataIsLost || others.count == 1 {
                alone.append(root)
            } else if told.insert(process.parentPID).inserted {
                result += lines(of: alone, depth: 0)
                alone = []
                result.append(Line(subject: .starter(pid: process.parentPID), depth: 0, processes: 0, children: others))
            }
        }
        return result + lines(of: alone, depth: 0)
    }

    /// The lines of `processes`, which have the same parent. Alike ones become one line in the place of the first, and
    /// hidden ones come last.
    private func lines(of processes: [Int], depth: Int) -> [Line] {
        var lines: [Line] = []
        var alike: [String: Int] = [:]
        var hidden = Line(subject: .hidden, depth: depth, processes: 0)
        for index in processes {
            let node = tree.nodes[index]
            guard isKept[index] else {
                add(index, to: &hidden)
                continue
            }
            if options.folds, node.children.isEmpty {
                let key = label(of: node)
                if let first = alike[key] {
                    lines[first].processes += 1
                    lines[first].calls &+= node.calls
                    lines[first].duration &+= node.duration
                    continue
                }
                alike[key] = lines.count
            }
            lines.append(
                Line(
                    subject: .process(index), depth: depth, calls: node.calls, duration: node.duration,
                    children: node.children))
        }
        return hidden.processes > 0 ? lines + [hidden] : lines
    }

    /// Adds a process and all below it. The time of those below is part of its own already.
    private func add(_ index: Int, to line: inout Line) {
        line.duration &+= tree.nodes[index].duration
        var pending = [index]
        while let next = pending.popLast() {
            line.processes += 1
            line.calls &+= tree.nodes[next].calls
            pending += tree.nodes[next].children
        }
    }

    private func write(_ line: Line) {
        let indentation = 2 * min(line.depth, indentedLevels)
        let columns = ProcessTreeReport.nameColumn + indentation
        switch line.subject {
        case .process(let index):
            let node = tree.nodes[index]
            writer.write(grouped: line.calls, width: 10)
            writer.write(time: node.start, width: 11)
            writer.write(time: line.duration, width: 11)
            writer.write(spaces: 2 + indentation)
            let alike = line.processes > 1 ? " (\(CountText.grouped(line.processes)) processes)" : ""
            let name = "\(node.process.pid) \(label(of: node))"
            writer.write(options.layout.fit(name, behind: columns + alike.utf8.count).name + alike)
        case .starter(let pid):
            writer.write(spaces: columns)
            writer.write("\(pid), not recorded")
        case .hidden:
            writer.write(spaces: columns)
            writer.write(in: options.layout.style(.dim)) {
                writer.write(
                    "… \(CountText.counted(line.processes, "process", "processes")), "
                        + "\(CountText.counted(line.calls, "call")), ")
                writer.write(time: line.duration)
                writer.write(" below " as StaticString)
                writer.write(limit: options.minCost)
            }
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// Everything about a process but its numbers.
    private func label(of node: ProcessTree.Node) -> String {
        var text = node.process.label(width: 100)
        switch node.relation {
        case .started: break
        case .forked: text += " (forked)"
        case .replaced: text += " (by exec)"
        }
        if case .waited(let status) = node.process.end, status != 0 { text += " (\(WaitStatus(status).text))" }
        if node.process.threads.count > 1 {
            text += " (\(CountText.grouped(UInt64(node.process.threads.count))) threads)"
        }
        return text
    }

    // MARK: JSON

    /// The report as one JSON document, with every process in it.
    private func writeJSON() {
        let json = writer.json
        json.document {
            json.beginArray("processes")
            // An object is closed once the last of its children is.
            var pending = tree.roots.reversed().map { ($0, isClosing: false) }
            while let (index, isClosing) = pending.popLast(), !writer.isClosed {
                if isClosing {
                    json.endArray()
                    json.endObject()
                    continue
                }
                json.beginObject(.allButFirst)
                writeFields(of: tree.nodes[index], json)
                json.beginArray("children")
                pending.append((index, true))
                pending += tree.nodes[index].children.reversed().map { ($0, false) }
            }
            json.endArray()
        }
    }

    private func writeFields(of node: ProcessTree.Node, _ json: JSONWriter) {
        let process = node.process
        json.field("pid", process.pid)
        json.field("parent_pid", process.parentPID)
        switch node.relation {
        case .started: json.field("origin", "image")
        case .forked: json.field("origin", "fork")
        case .replaced: json.field("origin", "exec")
        }
        json.field("program", process.programName)
        json.fields(called: process)
        json.field("start_ns", node.start)
        json.field("duration_ns", node.duration)
        json.field("calls", node.calls)
        json.field("threads", process.threads.count)
    }
}
