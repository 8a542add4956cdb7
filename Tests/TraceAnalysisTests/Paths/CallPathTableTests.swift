import TestSupport
import Testing

@testable import TraceAnalysis

/// A path is found by its caller and its function, however many callees the caller has.
@Suite struct CallPathTableTests {
    private struct Key: Hashable {
        var parent: UInt32
        var function: UInt32
    }

    @Test(arguments: 1...20)
    func everyCalleeIsFoundAgain(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var table = CallPathTable()
        defer { table.free() }
        var known: [Key: UInt32] = [:]
        func lookUp(_ key: Key) {
            let isNew = known[key] == nil
            let before = table.count
            let node = table.callee(of: key.parent, function: key.function)
            #expect(known[key, default: node] == node && table.count == before + (isNew ? 1 : 0))
            #expect(table.nodes[Int(node)].parent == key.parent && table.nodes[Int(node)].function == key.function)
            known[key] = node
        }
        for step in 0..<4000 {
            // Callers have from one callee to hundreds.
            let parent = UInt32.random(in: 0..<UInt32(min(table.count, 1 << (step % 11))), using: &random)
            let function = UInt32.random(in: 1...(parent % 3 == 0 ? 400 : 12), using: &random)
            lookUp(Key(parent: parent, function: function))
        }
        for key in Array(known.keys) { lookUp(key) }
        // The functions get other numbers, and the paths stay what they are.
        let functions = (0...400).map { UInt32(1000 - $0) }
        table.translate(functions)
        let translated = known.map { (Key(parent: $0.key.parent, function: functions[Int($0.key.function)]), $0.value) }
        known = Dictionary(uniqueKeysWithValues: translated)
        for key in Array(known.keys) { lookUp(key) }
    }

    /// What was given back to the system is gone, and what lies behind it is not.
    @Test func nodesThatAreForgotten() {
        var table = CallPathTable()
        defer { table.free() }
        var last: UInt32 = 0
        for function in 1...20_000 as ClosedRange<UInt32> { last = table.callee(of: last, function: function) }
        table.close()
        table.forgetNodes(below: 10_000)
        for node in 10_000...20_000 {
            #expect(table.nodes[node].function == UInt32(node) && table.nodes[node].parent == UInt32(node - 1))
        }
        #expect(table.nodes[5_000].function == 0)
    }
}
