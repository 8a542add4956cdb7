import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct CallTreeTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("tree") }

    /// The tree as one line a call: depth, name, total/self, marks.
    private func tree(
        _ filter: TreeFilter = TreeFilter(), _ layout: TreeLayout = TreeLayout(), budget: Int = 1 << 17
    ) throws -> [String] {
        let session = try Session(path: path)
        let functions = FunctionTable { _, address in
            var function = ResolvedFunction(
                name: String(UnicodeScalar(UInt8(truncatingIfNeeded: address))), module: nil, file: nil, line: 0)
            function.isCompilerMade = function.name == "b"
            return function
        }
        let resolver = FunctionResolver(functions)
        let tree = CallTree(of: session, resolver: resolver, filter: filter, layout: layout, budget: budget)
        var visitor = TextVisitor(functions: functions)
        for process in session.processes {
            for thread in process.threads { tree.walk(thread, &visitor) }
        }
        return visitor.lines
    }

    /// Writes one chunk of `calls`: letters enter a call, `.` leaves one; each takes 10 ns.
    private func write(_ calls: String, unwind: Bool = false) throws {
        try TraceWriter.session(path) { records in
            for (index, letter) in calls.utf8.enumerated() {
                let time = UInt64(index) * 10
                if letter == UInt8(ascii: ".") {
                    records.exit(at: time)
                } else {
                    records.enter(UInt64(letter), at: time)
                }
            }
            if unwind { records.unwind(1, at: UInt64(calls.utf8.count) * 10) }
        }
    }

    private func filter(_ change: (inout TreeFilter) throws -> Void) rethrows -> TreeFilter {
        var filter = TreeFilter()
        try change(&filter)
        return filter
    }

    @Test func timesAndFolding() throws {
        try write("abb.c.c.c..d..")
        #expect(try tree() == ["0 a 130/30", "1 b 90/50", "2 b 10/10", "2 c 30/30 x3", "1 d 10/10"])
    }

    /// Leaf calls, each a letter, and the lines they become: how often, the letter, and `~` where lines come by turns. In
    /// brackets is a call with callees.
    @Test(arguments: [
        ("", ""),
        ("aaa", "3a"),
        ("aabbb", "2a 3b"),
        ("aba", "1a 1b 1a"),
        ("abab", "2a~ 2b~"),
        ("ababababa", "5a~ 4b~"),
        ("ababc", "2a~ 2b~ 1c"),
        ("cabab", "1c 2a~ 2b~"),
        ("aabbbaabab", "5a~ 5b~"),
        ("abcabc", "2a~ 2b~ 2c~"),
        ("abcabcabd", "3a~ 3b~ 2c~ 1d"),
        ("abcdabcdabcd", "3a~ 3b~ 3c~ 3d~"),
        ("abacabac", "2a~ 2b~ 2a~ 2c~"),
        ("abcdeabcde", "1a 1b 1c 1d 1e 1a 1b 1c 1d 1e"),
        ("uvwabab", "1u 1v 1w 2a~ 2b~"),
        ("ababcdcd", "2a~ 2b~ 2c~ 2d~"),
        ("ab[c]ab", "1a 1b [1c] 1a 1b"),
        ("abab[abab]ab", "2a~ 2b~ [2a~ 2b~] 1a 1b"),
    ])
    func repeatedLeaves(_ leaves: String, _ expected: String) throws {
        try write("m" + leaves.map { $0 == "[" ? "f" : $0 == "]" ? "." : "\($0)." }.joined() + ".")
        var shown = ""
        var depth = 1
        for line in try tree().dropFirst() {
            let words = line.split(separator: " ")
            let level = try #require(Int(words.at(0)), "\(line)")
            if level < depth { shown += "]" }
            if words[1] == "f" {
                shown += " ["
            } else {
                let count = words.first { $0.hasPrefix("x") }?.dropFirst() ?? "1"
                shown += (shown.hasSuffix("[") ? "" : " ") + count + words[1] + (line.hasSuffix("by turns") ? "~" : "")
            }
            depth = level
        }
        if depth > 1 { shown += "]" }
        #expect(shown.dropFirst() == expected)
    }

    /// However calls repeat, each is counted, with its time, where its function's first one stands.
    @Test(arguments: 1...20)
    func foldingLosesNothing(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var leaves = ""
        while leaves.utf8.count < 200 {
            let turn = (0..<Int.random(in: 1...5, using: &random)).map { _ in "abcd".randomElement(using: &random)! }
            leaves += String(repeating: String(turn), count: Int.random(in: 1...4, using: &random))
        }
        try write("m" + leaves.map { "\($0)." }.joined() + ".")
        var unfolded = TreeLayout()
        unfolded.folds = false
        func sums(_ lines: [String]) throws -> [Substring: (calls: Int, time: Int)] {
            try lines.reduce(into: [:]) { sums, line in
                let words = line.split(separator: " ")
                let calls = words.first { $0.hasPrefix("x") }.flatMap { Int($0.dropFirst()) } ?? 1
                let (name, time) = (try words.at(1), try words.at(2).split(separator: "/").at(0))
                sums[name, default: (0, 0)].calls += calls
                sums[name, default: (0, 0)].time += try #require(Int(time), "\(line)")
            }
        }
        let (all, folded) = (try tree(TreeFilter(), unfolded), try tree())
        let (expected, found) = (try sums(all), try sums(folded))
        #expect(folded.count < all.count)
        try #require(found.keys == expected.keys)
        for (name, sum) in found { #expect(try #require(expected[name]) == sum, "\(name)") }
    }

    /// Watched calls, the way to each, and a few levels below, by the rules of InspectiveC.
    @Test func watchLists() throws {
        func shown(_ calls: String, _ watch: WatchList?, budget: Int = 1 << 17) throws -> String {
            try write(calls)
            var layout = TreeLayout()
            layout.folds = false
            return try tree(filter { $0.watch = watch }, layout, budget: budget).map {
                let words = $0.split(separator: " ")
                return "\(words[0])\(words[1])"
            }.joined(separator: " ")
        }
        let hits = [try Pattern("W")]
        let once = "mabWxyz....c.W....d.."
        let nested = "WpWq..r..s.."
        for budget in [1 << 17, 0] {
            func watch(_ calls: String, _ depth: UInt8, isComplete: Bool = false) throws -> String {
                try shown(calls, WatchList(hits, relativeDepth: depth, isComplete: isComplete), budget: budget)
            }
            #expect(try watch(once, 0) == "0m 1a 2b 3W 3W")
            #expect(try watch(once, 1) == "0m 1a 2b 3W 4x 3W")
            #expect(try watch(once, 64) == "0m 1a 2b 3W 4x 5y 6z 3W")
            // How deep calls are shown is counted from the outer one again, once the inner one has ended.
            #expect(try watch(nested, 1) == "0W 1p 2W 3q 1s")
            #expect(try watch(nested, 2) == "0W 1p 2W 3q 2r 1s")
            // A caller is shown because of what it leads to, however deep it is.
            #expect(try watch("Wpqr.W....", 1) == "0W 1p 2q 3W")
            #expect(try watch(once, 0, isComplete: true) == shown(once, nil))
            #expect(try watch("mab...", 5) == "")
        }
        // What the filter hides leads nobody to it.
        try write("maW..bWxx.x....W..")
        let long = try tree(
            filter {
                $0.minCost = 30
                $0.watch = WatchList(hits)
            })
        #expect(long == ["0 m 170/40", "1 b 90/20", "2 W 70/20", "  1 calls 10"])
        // b was made by the compiler: where it is hidden, it is no level.
        try write("maWbx.yz......")
        var layout = TreeLayout()
        layout.folds = false
        let hidden = try tree(
            filter {
                $0.hidesCompilerMade = true
                $0.watch = WatchList(hits, relativeDepth: 1)
            }, layout)
        #expect(hidden.map { $0.prefix(3) } == ["0 m", "1 a", "2 W", "3 x", "3 y"])
    }

    /// The tree has what InspectiveC's state machine prints while calls come and go, in the same order.
    @Test(arguments: 1...30) func watchListsFollowInspectiveC(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let levels = Int.random(in: 0...4, using: &random)
        var calls = "m"
        var expected: [String] = []
        var stack: [(letter: Character, outerHit: Int)] = []
        var (lastHit, lastPrinted) = (-1, -1)
        func enter(_ letter: Character) {
            stack.append((letter, lastHit))
            let index = stack.count - 1
            if letter == "W" {
                lastHit = index
                expected += (lastPrinted + 1..<index).map { "\($0) \(stack[$0].letter)" } + ["\(index) W"]
                lastPrinted = index
            } else if lastHit >= 0, index - lastHit <= levels {
                expected.append("\(index) \(letter)")
                lastPrinted = index
            }
        }
        enter("m")
        while calls.utf8.count < 400 || !stack.isEmpty {
            if calls.utf8.count < 400, stack.count < 2 || Bool.random(using: &random) {
                let letter = "acdefghW".randomElement(using: &random)!
                calls.append(letter)
                enter(letter)
            } else {
                calls.append(".")
                let call = stack.removeLast()
                if call.letter == "W" { lastHit = call.outerHit }
                lastPrinted = min(lastPrinted, stack.count - 1)
            }
        }
        try write(calls)
        var layout = TreeLayout()
        layout.folds = false
        let watch = WatchList([try Pattern("W")], relativeDepth: UInt8(levels))
        for budget in [1 << 17, 0] {
            let lines = try tree(filter { $0.watch = watch }, layout, budget: budget)
            #expect(lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == expected)
        }
    }

    @Test func openAndUnwound() throws {
        try write("abc", unwind: true)
        #expect(try tree() == ["0 a 30/10 open", "1 b 20/10 open", "2 c 10/10 unwound"])
    }

    @Test func filters() throws {
        try write("abc.d..bc..e..")
        #expect(
            try tree() == [
                "0 a 130/40", "1 b 50/30", "2 c 10/10", "2 d 10/10", "1 b 30/20", "2 c 10/10", "1 e 10/10",
            ])
        #expect(
            try tree(filter { $0.only = [try Pattern("b")] }) == [
                "0 b 50/30", "1 c 10/10", "1 d 10/10", "0 b 30/20", "1 c 10/10",
            ])
        #expect(try tree(filter { $0.without = [try Pattern("b")] }) == ["0 a 130/40", "1 e 10/10"])
        #expect(try tree(filter { $0.leadingTo = [try Pattern("d")] }) == ["0 a 130/40", "1 b 50/30", "2 d 10/10"])
        #expect(
            try tree(filter { $0.hidden = [try Pattern("b")] }) == [
                "0 a 130/90", "1 c 10/10", "1 d 10/10", "1 c 10/10", "1 e 10/10",
            ])
        #expect(
            try tree(filter { $0.hidesCompilerMade = true }) == [
                "0 a 130/90", "1 c 10/10", "1 d 10/10", "1 c 10/10", "1 e 10/10",
            ])
        #expect(
            try tree(filter { $0.minCost = 30 }) == [
                "0 a 130/40", "1 b 80/50 x2", "  3 calls 30", "  1 calls 10",
            ])
        #expect(try tree(filter { $0.maxDepth = 0 }) == ["0 a 130/40", "  6 calls 90"])
        #expect(try tree(filter { ($0.from, $0.to) = (75, 95) }) == ["0 a 130/40", "1 b 30/20", "2 c 10/10"])
    }

    @Test func sortedByCost() throws {
        try write("ab.cb..b..")
        var layout = TreeLayout()
        layout.order = .cost
        #expect(try tree(TreeFilter(), layout) == ["0 a 90/40", "1 c 30/20", "2 b 10/10", "1 b 20/20 x2"])
    }

    /// Calls that hide others are folded into calls that do not, and so have more to tell than before: there is room for all of it.
    @Test func foldedCallsTellWhatTheyHide() throws {
        let letters = (UInt64(65)...90).map { $0 }
        try TraceWriter.session(path) { records in
            records.enter(109, at: 0)
            var time: UInt64 = 0
            for letter in letters {
                records.enter(letter, at: time)
                records.exit(at: time + 100)
                records.enter(letter, at: time + 100)
                records.enter(120, at: time + 110)
                records.exit(at: time + 120)
                records.exit(at: time + 200)
                time += 200
            }
            records.exit(at: time)
        }
        var layout = TreeLayout()
        layout.order = .cost
        let lines = try tree(filter { $0.minCost = 50 }, layout)
        let calls = letters.flatMap { ["1 \(String(UnicodeScalar(UInt8($0)))) 200/190 x2", "  1 calls 10"] }
        #expect(lines == ["0 m 5200/0"] + calls)
    }

    /// Of several threads the longest calls, as many as are asked for and no more; their callers are among them.
    @Test(arguments: 1...8, [1, 2, 7, 40, 10_000])
    func longest(_ seed: Int, _ limit: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 150, chunkCalls: 20)
        try trace.writer.write(to: path)
        let session = try Session(path: path)
        let threads = session.processes.flatMap(\.threads)
        let functions = FunctionTable { _, address in
            ResolvedFunction(name: String(address), module: nil, file: nil, line: 0)
        }
        var layout = TreeLayout()
        (layout.order, layout.folds) = (.cost, false)
        var tree = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter(), layout: layout)
        let times = tree.rank(threads, limit: limit)
        var visitor = LongestVisitor()
        for thread in threads { tree.walk(thread, &visitor) }
        let all = trace.calls.map { $0.end - $0.start }.sorted(by: >)
        #expect(visitor.times.sorted(by: >) == Array(all.prefix(limit)))
        #expect(times == [all[0]])
        #expect(visitor.times.count == min(limit, all.count))
        #expect(visitor.isWhole, "no call is shown without its caller")
        #expect(UInt64(visitor.times.count) + visitor.hidden == UInt64(all.count))
    }

    /// Both ways of building, the one pass and the two, show the same, whatever the filter.
    @Test(arguments: 1...12)
    func onePassOrTwo(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 600, chunkCalls: 30)
        try trace.writer.write(to: path)
        let filters = try [
            TreeFilter(), filter { $0.minCost = 50_000 }, filter { $0.maxDepth = 3 },
            filter { $0.hidden = [try Pattern("@")] }, filter { $0.only = [try Pattern("@")] },
            filter { $0.leadingTo = [try Pattern("@")] }, filter { $0.without = [try Pattern("@")] },
            filter { ($0.from, $0.to) = (1_000_000, 4_000_000) },
        ]
        for filter in filters {
            let once = try tree(filter)
            #expect(try tree(filter, budget: 0) == once)
            #expect(filter.usesNames || !once.isEmpty)
        }
    }

    /// Nor does it matter when something is damaged: what is shown is the same, and so is the damage that is told of.
    @Test(arguments: 1...20)
    func onePassOrTwoOfDamaged(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 600, chunkCalls: 20)
        try trace.writer.write(to: path)
        let chunks = try Session(path: path).processes[0].threads[0].chunks
        var random = SeededGenerator(seed: UInt64(seed))
        var log = trace.writer.log
        for _ in 0..<3 {
            let chunk = chunks[Int.random(in: 0..<chunks.count, using: &random)]
            log[Int(chunk.offset) + Chunk.headerSize + Int.random(in: 0..<chunk.payload.count, using: &random)] ^= 1
        }
        try writeFile(log, to: path + "/trace")
        let once = try shown()
        #expect(!once.damage.isEmpty)
        #expect(try shown(budget: 0) == once)
        let window = filter { ($0.from, $0.to) = (1_000_000, 4_000_000) }
        #expect(try shown(window, budget: 0).lines == shown(window).lines)
    }

    /// The first lines are there while the rest of the recording is unread, damaged as it may be; whoever reads on is told.
    @Test(arguments: 1...8)
    func firstLinesComeFirst(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 2000, chunkCalls: 20, maxDepth: 5)
        try trace.writer.write(to: path)
        let whole = try shown(budget: 0)
        let last = try #require(try Session(path: path).processes[0].threads[0].chunks.last)
        var log = trace.writer.log
        log[Int(last.offset) + Chunk.headerSize + last.payload.count - 1] ^= 1
        try writeFile(log, to: path + "/trace")
        let first = try shown(budget: 0, limit: 8)
        #expect(first.lines.count < 12 && first.lines == Array(whole.lines.prefix(first.lines.count)))
        #expect(first.damage.isEmpty)
        #expect(try shown(budget: 0).damage.count == 1)
    }

    /// A stretch of time is shown without a look at what is far from it.
    @Test(arguments: 1...8)
    func windowsAreSought(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 4000, chunkCalls: 20, maxDepth: 4)
        try trace.writer.write(to: path)
        let session = try Session(path: path)
        let chunks = session.processes[0].threads[0].chunks
        let from = session.clock.nanoseconds(at: chunks[chunks.count / 2].beginTicks)
        let window = filter { ($0.from, $0.to) = (from, from + 1_000_000) }
        let whole = try shown(window)
        #expect(!whole.lines.isEmpty)
        var log = trace.writer.log
        for index in [0, 1, 2, chunks.count - 2, chunks.count - 1] {
            log[Int(chunks[index].offset) + Chunk.headerSize + chunks[index].payload.count - 1] ^= 1
        }
        try writeFile(log, to: path + "/trace")
        let sought = try shown(window, budget: 0)
        #expect(sought.lines == whole.lines)
        #expect(sought.damage.isEmpty)
    }

    private struct Shown: Equatable {
        var lines: [String]
        var damage: [String]
    }

    /// The tree, as far as `limit` lines, and the damage that was found then.
    private func shown(
        _ filter: TreeFilter = TreeFilter(), budget: Int = 1 << 17, limit: Int = .max
    ) throws -> Shown {
        let session = try Session(path: path)
        let functions = FunctionTable { _, address in
            ResolvedFunction(name: String(address), module: nil, file: nil, line: 0)
        }
        let tree = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: filter, layout: TreeLayout(), budget: budget)
        var visitor = TextVisitor(functions: functions)
        visitor.limit = limit
        for thread in session.processes.flatMap(\.threads) { tree.walk(thread, &visitor) }
        return Shown(lines: visitor.lines, damage: session.damage.entries.map(\.description))
    }

    /// Versions of a function are one in each module; what has no other version, and what is in no module, goes by address.
    @Test func versionsOfOneFunction() {
        let functions = FunctionTable(
            resolve: { _, _ in ResolvedFunction(name: "", module: nil, file: nil, line: 0) },
            identify: { _, address in address < 3 ? "f" : nil })
        let modules = ["/a", "/b"].map { functions.intern(ModuleIdentity(path: $0, buildID: [])) }
        let ids = modules.map { module in
            (1...4).map { functions.intern(FunctionTable.Function(module: module, address: $0)) }
        }
        #expect(ids[0][0] == ids[0][1] && Set(ids[0]).count == 3)
        #expect(Set(ids[0] + ids[1]).count == 6)
        let outside = (1...2).map { functions.intern(FunctionTable.Function(module: -1, address: $0)) }
        #expect(Set(outside).count == 2)
    }

    /// Threads are read in whatever order workers take them.
    @Test(arguments: [[1, 2, 3], [3, 2, 1], [2, 3, 1]])
    func versionsStandForThemselvesInAnyOrder(_ addresses: [UInt64]) {
        let functions = FunctionTable(
            resolve: { _, address in ResolvedFunction(name: "f", module: nil, file: nil, line: Int(address)) },
            identify: { _, _ in "f" })
        let module = functions.intern(ModuleIdentity(path: "/a", buildID: []))
        var lines: [Int] = []
        for address in addresses {
            lines.append(functions[functions.intern(FunctionTable.Function(module: module, address: address))].line)
        }
        #expect(functions.functions.count == 1 && lines.last == 1)
    }

    @Test(arguments: 1...5)
    func selfTimesAddUpToTheRoot(_ seed: Int) throws {
        try RandomTrace(seed: UInt64(seed), count: 500).writer.write(to: path)
        let session = try Session(path: path)
        let functions = FunctionTable { _, _ in ResolvedFunction(name: "", module: nil, file: nil, line: 0) }
        let tree = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter(),
            layout: TreeLayout())
        var sums = SumVisitor()
        tree.walk(session.processes[0].threads[0], &sums)
        #expect(sums.selfTime == sums.roots)
        #expect(sums.calls == 500)
    }

    @Test func leftOutCallsAreNotSelfTime() throws {
        try TraceWriter.session(path) { records in
            records.enter(97, at: 0)
            records.dropped(5, ticks: 30)
            records.exit(at: 100)
        }
        #expect(try tree() == ["0 a 100/70", "  5 dropped 30"])
    }

    @Test func addressesResolveByWhen() throws {
        let writer = TraceWriter()
        var metadata = MetadataWriter()
        metadata.process(pid: 1, path: "/x")
        metadata.module("/lib/a.so", low: 0x1000, high: 0x2000, bias: 0x1000)
        metadata.unload(low: 0x1000, at: 100)
        metadata.module("/lib/b.so", low: 0x1000, high: 0x2000, bias: 0x1000, seen: 90)
        var options = TraceWriter.ChunkOptions()
        options.isMetadata = true
        writer.add(options, records: metadata.bytes)
        try writer.write(to: path)
        let session = try Session(path: path)
        let functions = FunctionTable { module, address in
            ResolvedFunction(name: "\(module?.path ?? "none") \(address)", module: nil, file: nil, line: 0)
        }
        let space = FunctionResolver(functions).space(of: session.processes[0])
        #expect(functions[space.function(at: 0x1010, ticks: 50)].name == "/lib/a.so 16")
        #expect(functions[space.function(at: 0x1010, ticks: 150)].name == "/lib/b.so 16")
        #expect(functions[space.function(at: 0x1010, ticks: 99)].name == "/lib/a.so 16")
        #expect(functions[space.function(at: 0x3000, ticks: 99)].name == "none 12288")
        for address in UInt64(0x1000)..<0x1fff {
            #expect(space.function(at: address, ticks: 1) == space.function(at: address, ticks: 2))
        }
    }

    /// A stretch of time is read whole, and all of the time by outlines.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func treesByOutlinesAreThoseOfAllCalls(seed: UInt64) throws {
        let trace = RandomTrace(
            seed: seed, count: 30_000, chunkCalls: 20 + Int(seed) * 9,
            maxDepth: seed % 2 == 0 ? 60 : 8)
        try trace.writer.write(to: path)
        for least in [300, 20_000, 200_000, 2_000_000, 50_000_000] as [UInt64] {
            for depth in [UInt32.max, 3] {
                let outlined = try tree(filter { ($0.minCost, $0.maxDepth) = (least, depth) })
                let whole = try tree(filter { ($0.minCost, $0.maxDepth, $0.to) = (least, depth, .max - 1) })
                #expect(outlined == whole, "seed \(seed), \(least) ns")
                #expect(!outlined.isEmpty)
            }
        }
    }
}
