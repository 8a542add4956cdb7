import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct ProcessTreeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("processes") }

    /// The tree of processes whose metadata is given, as `pid relation`, children in brackets.
    private func tree(_ processes: [(inout MetadataWriter) -> Void]) throws -> String {
        let writer = TraceWriter()
        for (index, write) in processes.enumerated() {
            var items = MetadataWriter()
            write(&items)
            var options = TraceWriter.ChunkOptions()
            options.process = UInt32(index)
            options.isMetadata = true
            options.thread = 0
            writer.add(options, records: items.bytes)
        }
        let path = directory.file("x.fathom")
        try writer.write(to: path)
        let tree = ProcessTree(of: try Session(path: path))
        func text(_ indices: [Int]) -> String {
            indices.map { index in
                let node = tree.nodes[index]
                #expect(node.children.allSatisfy { tree.nodes[$0].parent == index })
                let below = node.children.isEmpty ? "" : " [\(text(node.children))]"
                return "\(node.process.pid) \(node.relation)\(below)"
            }.joined(separator: ", ")
        }
        return text(tree.roots)
    }

    private func image(_ pid: UInt32, of parent: UInt32, at start: UInt64 = 10) -> (inout MetadataWriter) -> Void {
        { $0.process(pid: pid, parent: parent, start: start, path: "/p") }
    }

    private func fork(_ pid: UInt32, of parent: UInt32, from index: UInt32) -> (inout MetadataWriter) -> Void {
        { $0.process(pid: pid, parent: parent, forkedFrom: index, start: 10, path: "/p") }
    }

    private func ended(_ process: @escaping (inout MetadataWriter) -> Void) -> (inout MetadataWriter) -> Void {
        {
            process(&$0)
            $0.end(at: 900)
        }
    }

    @Test func startedForkedAndReplaced() throws {
        let found = try tree([
            image(5, of: 1), fork(6, of: 5, from: 0), image(7, of: 5), image(7, of: 5), image(8, of: 7),
            image(9, of: 2),
        ])
        #expect(found == "5 started [6 forked, 7 started [7 replaced [8 started]]], 9 started")
    }

    /// The parent that a child had when it was forked, whoever adopted it since.
    @Test func adoptedChildren() throws {
        #expect(try tree([image(5, of: 2), fork(6, of: 1, from: 0)]) == "5 started [6 forked]")
    }

    /// A process id that is used again stands for whoever had it last.
    @Test func processIDsComeAgain() throws {
        let found = try tree([ended(image(5, of: 2)), image(6, of: 5), ended(image(5, of: 2)), image(7, of: 5)])
        #expect(found == "5 started [6 started], 5 started [7 started]")
    }

    /// A child may make its first call before its parent does.
    @Test func theParentComesLater() throws {
        #expect(try tree([image(6, of: 5), image(5, of: 2)]) == "5 started [6 started]")
        // Never in a circle.
        #expect(try tree([image(6, of: 5), image(5, of: 6)]) == "6 started [5 started]")
        #expect(try tree([image(6, of: 6)]) == "6 started")
    }
}
