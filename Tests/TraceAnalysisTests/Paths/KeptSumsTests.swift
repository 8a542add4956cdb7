import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

/// Kept sums give back what they were made of, and nothing of what is damaged or forged fails.
@Suite struct KeptSumsTests {
    private let directory: TemporaryDirectory
    private let identity: [UInt64] = [1, 2, 3, 4]
    private let asRecorded = RowSettings(cost: nil, hidesCompilerMade: false)

    init() throws { directory = try TemporaryDirectory("kept") }

    /// What a recording adds up to, and the bytes that are kept of it.
    private struct Made {
        var session: Session
        var tree: CallPathTree
        var rows: [AggregateRow]
        var threads: [ThreadSums]
        var bytes: [UInt8]
    }

    private func functions() -> FunctionTable {
        FunctionTable { _, address in
            ResolvedFunction(name: String(address, radix: 16), module: nil, file: nil, line: 0)
        }
    }

    private func make(_ seed: Int, _ settings: RowSettings, calls: Int = 700) throws -> Made {
        let path = directory.file("x.fathom")
        try RandomTrace(seed: UInt64(seed), count: calls).writer.write(to: path)
        let session = try Session(path: path)
        let aggregation = Aggregation(
            of: session, resolver: FunctionResolver(functions()), filter: TreeFilter(),
            partSize: seed % 2 == 0 ? 1 : 4 << 20)
        let (tree, threads) = aggregation.sums(of: session.processes.flatMap(\.threads), rows: settings)
        let rows = settings.shown(tree).rows(by: .function)
        var sections: [UInt8] = []
        let header = KeptSums.write(tree, functions: rows, threads: threads, settings, of: identity) {
            sections += Array($0)
        }
        return Made(session: session, tree: tree, rows: rows, threads: threads, bytes: header + sections)
    }

    private func open(_ bytes: [UInt8], of identity: [UInt64]? = nil) -> KeptSums? {
        KeptSums(of: identity ?? self.identity, fileSize: bytes.count) { offset, size in
            guard offset >= 0, size >= 0, offset <= bytes.count, size <= bytes.count - offset else { return nil }
            return Array(bytes[offset..<offset + size])
        }
    }

    /// All numbers of rows.
    private func numbers(_ rows: [AggregateRow]) -> [[UInt64]] {
        rows.map { row in
            let percentiles = row.percentiles
            return [
                row.calls, row.total, row.selfTime, row.inherited, row.inheritedCalls, row.suspended, row.average,
                row.minimum, row.maximum, percentiles.p50, percentiles.p90, percentiles.p99,
            ]
        }
    }

    @Test(arguments: 1...8)
    func everythingComesBack(_ seed: Int) throws {
        let settings =
            seed % 3 == 0 ? RowSettings(cost: TracingCost(perCall: 9.5), hidesCompilerMade: true) : asRecorded
        let made = try make(seed, settings)
        let kept = try #require(open(made.bytes))

        let names = functions()
        let tree = try #require(kept.tree(names))
        #expect(zip(tree.paths, made.tree.paths).allSatisfy { $0.sums == $1.sums })
        #expect(tree.paths.count == made.tree.paths.count)
        #expect(
            tree.paths.map { [$0.parent, $0.end, Int32($0.depth)] }
                == made.tree.paths.map {
                    [$0.parent, $0.end, Int32($0.depth)]
                })
        #expect(
            tree.paths.map { names.functions[Int($0.function)].address }
                == made.tree.paths.map { made.tree.functions.functions[Int($0.function)].address })
        #expect(numbers(tree.rows(by: .path)) == numbers(made.tree.rows(by: .path)))
        #expect(made.bytes.count < 40 * made.tree.paths.count + 2000)

        let (rows, dropped) = try #require(kept.functionRows(functions(), settings))
        #expect(numbers(rows) == numbers(made.rows))
        #expect(dropped == made.tree.dropped)

        let threads = try #require(kept.threads(of: made.session, functions(), settings))
        #expect(threads.map(\.sums) == made.threads.map(\.sums))
        #expect(threads.map(\.durations) == made.threads.map(\.durations))
        #expect(threads.map(\.label.tid) == made.session.processes.flatMap(\.threads).map(\.tid))
    }

    @Test func theyAreOfOneLogAndOneWayToMakeRows() throws {
        let made = try make(1, asRecorded)
        #expect(open(made.bytes, of: [1, 2, 3, 5]) == nil)
        let kept = try #require(open(made.bytes))
        let corrected = RowSettings(cost: TracingCost(perCall: 9), hidesCompilerMade: false)
        #expect(kept.functionRows(functions(), corrected) == nil)
        #expect(kept.threads(of: made.session, functions(), corrected) == nil)
        #expect(kept.tree(functions()) != nil)
    }

    /// Who asks for functions does not read the paths.
    @Test func onlyWhatIsAskedForIsRead() throws {
        let made = try make(2, asRecorded, calls: 5000)
        var read = 0
        let kept = try #require(
            KeptSums(of: identity, fileSize: made.bytes.count) { offset, size in
                read += size
                return Array(made.bytes[offset..<offset + size])
            })
        #expect(kept.functionRows(functions(), asRecorded) != nil)
        #expect(read * 4 < made.bytes.count)
    }

    @Test(arguments: 1...4)
    func damagedBytesGiveNothing(_ seed: Int) throws {
        let made = try make(seed, asRecorded)
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<100 {
            var damaged = made.bytes
            damaged[Int.random(in: 0..<damaged.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            let kept = open(damaged)
            let isWhole =
                kept?.tree(functions()) != nil && kept?.functionRows(functions(), asRecorded) != nil
                && kept?.threads(of: made.session, functions(), asRecorded) != nil
            #expect(!isWhole)
            let cut = open(Array(made.bytes.prefix(.random(in: 0..<made.bytes.count, using: &random))))
            #expect(cut?.tree(functions()) == nil)
        }
    }

    /// Whoever forges the checksums too may tell what he likes, but every view of it works.
    @Test(arguments: 1...12)
    func forgedBytesFailNoView(_ seed: Int) throws {
        let made = try make(seed % 3 + 1, asRecorded, calls: 200)
        var random = SeededGenerator(seed: UInt64(seed) + 77)
        for _ in 0..<150 {
            var forged = made.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: KeptSums.headerSize..<forged.count, using: &random)
                forged[index] = Bool.random(using: &random) ? 0xff : .random(in: 0...255, using: &random)
            }
            guard let kept = open(sealed(forged)) else {
                Issue.record("not even opened")
                return
            }
            let cost = TracingCost(perCall: 12)
            if let tree = kept.tree(functions()) {
                for grouping in Grouping.allCases {
                    _ = tree.rows(by: grouping)
                    _ = tree.corrected(by: cost).rows(by: grouping)
                }
                #expect(tree.paths.allSatisfy { Int($0.end) <= tree.paths.count && Int($0.parent) < tree.paths.count })
                // Shares of the whole that graphs show.
                #expect(tree.paths.allSatisfy { $0.sums.total <= tree.total })
                _ = try tree.inverted(at: [Pattern("*1*")])
            }
            _ = kept.functionRows(functions(), asRecorded)
            for thread in kept.threads(of: made.session, functions(), asRecorded) ?? [] { _ = thread.row(cost: cost) }
        }
    }

    /// The same bytes with checksums that hold.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var words = bytes.prefix(KeptSums.headerSize).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        for section in 0..<5 {
            let place = 5 + section * 3
            var sum = KeptChecksum()
            Array(bytes[Int(words[place])..<Int(words[place] + words[place + 1])]).withUnsafeBytes { sum.add($0) }
            words[place + 2] = sum.value
        }
        var sum = KeptChecksum()
        for word in words.dropLast() { sum.add(word) }
        words[words.count - 1] = sum.value
        return words.withUnsafeBytes { Array($0) } + bytes.dropFirst(KeptSums.headerSize)
    }
}
