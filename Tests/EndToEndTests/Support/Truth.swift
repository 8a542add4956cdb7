import TestSupport

/// How often each function was called, by a count that does not come from Fathom.
enum Truth {
    private static let entrySize = 256  // struct entry of hooks/counting.c

    /// Runs a program under the counting hooks.
    ///
    /// - Returns: calls by function name, summed over all its processes.
    static func counts(_ command: [String]) throws(TestSupportError) -> [String: Int] {
        let directory = try TemporaryDirectory("counts")
        let path = directory.file("counts")
        _ = try run(
            command[0], Array(command.dropFirst()),
            environment: Fathom.inherited(adding: ["COUNTS": path, "LD_PRELOAD": try Binaries.countingHooks()]))
        var counts: [String: Int] = [:]
        var symbols: [String: [UInt64: String]] = [:]
        let table = try readFile(path)
        for at in stride(from: 0, to: table.count, by: entrySize) {
            let (key, address, enters) = table.withUnsafeBytes { table in
                (
                    table.load(fromByteOffset: at, as: UInt64.self),
                    table.load(fromByteOffset: at + 8, as: UInt64.self),
                    table.load(fromByteOffset: at + 16, as: UInt64.self)
                )
            }
            guard key != 0 else { continue }
            let module = String(decoding: table[(at + 32)..<(at + entrySize)].prefix { $0 != 0 }, as: UTF8.self)
            if symbols[module] == nil { symbols[module] = try functions(of: module) }
            counts[symbols[module]?[address] ?? "\(module)+\(address)", default: 0] += Int(enters)
        }
        return counts
    }

    /// Address in the file to demangled name without parameters, as binutils knows them.
    private static func functions(of module: String) throws(TestSupportError) -> [UInt64: String] {
        let listing = try run("sh", ["-c", "nm --defined-only \"$0\" | c++filt -p", module]).stdout
        var names: [UInt64: String] = [:]
        for line in listing.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 2)
            guard fields.count == 3, "tTwW".contains(fields[1]), let address = UInt64(fields[0], radix: 16) else {
                continue
            }
            names[address] = String(fields[2])
        }
        return names
    }

    /// The file a program wrote to `TRUTH`, line by line, in words.
    static func lines(_ path: String) throws(TestSupportError) -> [[Substring]] {
        String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
    }

    /// The calls a program noted by `truth.h`.
    static func calls(_ path: String) throws(TestSupportError) -> [TrueCall] {
        try lines(path).map { words throws(TestSupportError) in
            TrueCall(
                function: UInt64(try words.at(0), radix: 16) ?? 0, caller: UInt64(try words.at(1), radix: 16) ?? 0,
                depth: Int(try words.at(2)) ?? -1)
        }
    }
}
