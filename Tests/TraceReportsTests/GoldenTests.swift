import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceReports

/// Reports of one session, with everything in it that a report shows, against the files beside this one.
///
/// `FATHOM_BLESS=1` writes the files anew.
@Suite struct GoldenTests {
    private let directory: TemporaryDirectory
    let session: Session
    let resolver: FunctionResolver

    init() throws {
        directory = try TemporaryDirectory("golden")
        let path = directory.file("x.fathom")
        try GoldenSession.write(to: path)
        session = try Session(path: path)
        let functions = FunctionTable(
            resolve: { module, address in
                guard let module else {
                    return ResolvedFunction(name: "0x" + String(address, radix: 16), module: nil, file: nil, line: 0)
                }
                let name = GoldenSession.names[address] ?? "unknown"
                let isKnown = name != "unknown"
                return ResolvedFunction(
                    name: name, module: module.path, file: isKnown ? "program.c" : nil, line: isKnown ? Int(address) : 0
                )
            },
            locate: { _, address in ("program.c", Int(address)) })
        resolver = FunctionResolver(functions)
    }

    /// - Parameter longest: shows that many calls, the longest first.
    private func walk<Visitor: TreeVisitor>(
        _ visitor: inout Visitor, _ filter: TreeFilter = TreeFilter(), longest: Int? = nil
    ) {
        var layout = TreeLayout()
        if longest != nil { layout.order = .cost }
        var tree = CallTree(of: session, resolver: resolver, filter: filter, layout: layout)
        if let longest { _ = tree.rank(session.processes.flatMap(\.threads), limit: longest) }
        for process in session.processes {
            visitor.begin(process)
            for thread in process.threads { tree.walk(thread, &visitor) }
            visitor.endProcess()
        }
    }

    private func text(_ filter: TreeFilter = TreeFilter(), _ change: (inout TreeText.Options) -> Void) -> [UInt8] {
        ByteWriter.bytes { writer in
            var options = TreeText.Options()
            options.maxDepth = filter.maxDepth
            options.minCost = filter.minCost
            change(&options)
            var visitor = TreeText(writer, functions: resolver.functions, options: options)
            walk(&visitor, filter, longest: options.longest)
            visitor.finish()
        }
    }

    @Test func tree() throws { try expect(text { _ in }, "tree.txt") }

    @Test func treeWithPlaces() throws {
        try expect(
            text {
                $0.lines = true
                $0.callSites = true
                $0.layout.isColoured = true
            }, "tree-places.txt")
    }

    @Test func treeWithSums() throws {
        var filter = TreeFilter()
        filter.minCost = 1000
        filter.maxDepth = 1
        try expect(text(filter) { $0.recordedMinCost = 100 }, "tree-sums.txt")
    }

    /// Threads without a call to show are one line.
    @Test func treeWithQuietThreads() throws {
        var filter = TreeFilter()
        filter.minCost = 1_000_000
        try expect(text(filter) { _ in }, "tree-quiet.txt")
        filter.minCost = 100_000_000
        let lines = String(decoding: text(filter) { _ in }, as: UTF8.self)
        #expect(lines == "… 3 threads of 2 processes, 13 calls, 9.01 ms below 100ms\n")
        // What follows a limit is not known.
        filter.minCost = 1_000_000
        #expect(text(filter) { $0.limit = 2 }.split(separator: UInt8(ascii: "\n")).count == 4)
    }

    @Test func longestCalls() throws {
        try expect(
            text {
                $0.longest = 4
                $0.begins = true
            }, "tree-longest.txt")
    }

    @Test func treeWithLimit() throws {
        let lines = text { $0.limit = 3 }.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 2 + 3)
    }

    @Test func treeAsJSON() throws {
        try expect(
            ByteWriter.bytes { writer in
                var visitor = TreeJSON(writer, functions: resolver.functions)
                walk(&visitor)
                visitor.finish()
            }, "tree.json")
    }

    @Test func dump() throws {
        for (format, name) in [(DumpReport.Format.text, "dump.txt"), (.jsonl, "dump.jsonl")] {
            try expect(
                ByteWriter.bytes { writer in
                    let report = DumpReport(
                        writer, session: session, resolver: resolver, format: format, showsChunks: true)
                    for process in session.processes { process.threads.forEach { report.write($0) } }
                }, name)
        }
    }

    @Test func info() throws {
        func blank(_ bytes: [UInt8]) -> [UInt8] {
            let pieces = String(decoding: bytes, as: UTF8.self).split(
                separator: directory.path, omittingEmptySubsequences: false)
            return Array(pieces.joined(separator: "DIRECTORY").utf8)
        }
        func info(_ write: (InfoReport) -> Void) -> [UInt8] {
            blank(
                ByteWriter.bytes { write(InfoReport($0, session: session, showsModules: true, checksPayloads: true)) })
        }
        try expect(info { $0.write(.text) }, "info.txt")
        try expect(info { $0.write(.json) }, "info.json")
    }

    func expect(_ bytes: [UInt8], _ name: String) throws { try expectGolden(name) { $0.write(bytes) } }
}
