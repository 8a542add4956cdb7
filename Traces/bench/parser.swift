// Parses arithmetic into a tree of objects, copies the tree with its constants folded, and evaluates it, over and over:
// most of its time goes to allocating, counting references and freeing.

struct Failure: Error {
    var position: Int
}

class Node {
    func value(_ variables: [String: Double]) throws -> Double { 0 }
    func folded() -> Node { self }
    var constant: Double? { nil }
}

final class Number: Node {
    let number: Double
    init(_ number: Double) { self.number = number }
    override func value(_ variables: [String: Double]) throws -> Double { number }
    override var constant: Double? { number }
}

final class Variable: Node {
    let name: String
    init(_ name: String) { self.name = name }
    override func value(_ variables: [String: Double]) throws -> Double {
        guard let value = variables[name] else { throw Failure(position: 0) }
        return value
    }
}

final class Operation: Node {
    let symbol: UInt8
    let operands: [Node]

    init(_ symbol: UInt8, _ operands: [Node]) {
        self.symbol = symbol
        self.operands = operands
    }

    override func value(_ variables: [String: Double]) throws -> Double {
        let values = try operands.map { try $0.value(variables) }
        return combine(values)
    }

    override func folded() -> Node {
        let operands = operands.map { $0.folded() }
        let constants = operands.compactMap(\.constant)
        return constants.count == operands.count ? Number(combine(constants)) : Operation(symbol, operands)
    }

    private func combine(_ values: [Double]) -> Double {
        switch symbol {
        case UInt8(ascii: "+"): values.reduce(0, +)
        case UInt8(ascii: "*"): values.reduce(1, *)
        default: values.dropFirst().reduce(values.first ?? 0, -)
        }
    }
}

struct Parser {
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) { self.text = Array(text.utf8) }

    mutating func parse() throws -> Node {
        let node = try sum()
        guard position == text.count else { throw Failure(position: position) }
        return node
    }

    private mutating func sum() throws -> Node {
        var node = try product()
        while let symbol = accept([UInt8(ascii: "+"), UInt8(ascii: "-")]) {
            node = Operation(symbol, [node, try product()])
        }
        return node
    }

    private mutating func product() throws -> Node {
        var factors = [try factor()]
        while accept([UInt8(ascii: "*")]) != nil { factors.append(try factor()) }
        return factors.count == 1 ? factors[0] : Operation(UInt8(ascii: "*"), factors)
    }

    private mutating func factor() throws -> Node {
        if accept([UInt8(ascii: "(")]) != nil {
            let node = try sum()
            guard accept([UInt8(ascii: ")")]) != nil else { throw Failure(position: position) }
            return node
        }
        let word = text[position...].prefix { $0 > 47 && $0 < 58 || $0 > 96 && $0 < 123 }
        guard let first = word.first else { throw Failure(position: position) }
        position += word.count
        let name = String(decoding: word, as: UTF8.self)
        return first < 58 ? Number(Double(name) ?? 0) : Variable(name)
    }

    private mutating func accept(_ symbols: [UInt8]) -> UInt8? {
        while position < text.count, text[position] == 32 { position += 1 }
        guard position < text.count, symbols.contains(text[position]) else { return nil }
        position += 1
        return text[position - 1]
    }
}

let expression = Array(repeating: "(1 + 2 * x) * (3 - y * (4 + 5)) + 6 * (x + y * z) - 7", count: 20)
    .joined(separator: " + ")
var sum = 0.0
for round in 0..<(Int(CommandLine.arguments.dropFirst().first ?? "") ?? 1) {
    var parser = Parser(expression)
    let node = try parser.parse()
    let variables = ["x": Double(round), "y": 2, "z": 3]
    sum += try node.folded().value(variables) + node.value(variables)
}
print(sum)
