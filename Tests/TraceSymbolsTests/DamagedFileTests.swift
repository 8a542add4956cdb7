import TestSupport
import Testing
import TraceSymbols

/// Damaged files may answer anything, but they do answer.
@Suite struct DamagedFileTests {
    let directory: TemporaryDirectory
    let program: [UInt8]

    init() throws {
        directory = try TemporaryDirectory("damaged files")
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-O0", "-g"],
            output: directory.file("program"))
        program = try readFile(path)
    }

    private func askEverything(_ bytes: [UInt8]) throws {
        let path = directory.file("damaged")
        try writeFile(bytes, to: path)
        let symbols = ModuleSymbols(path: path, buildID: [])
        for function in symbols.functions() ?? [] {
            _ = symbols.location(at: function.start + 1)
        }
        _ = symbols.problem?.description
        _ = try? ExecutableInspection.inspect(path: path)
    }

    @Test func truncated() throws {
        for size in stride(from: 0, to: program.count, by: 97) { try askEverything(Array(program[..<size])) }
    }

    @Test func flippedBytes() throws {
        var random = SplitMix64(state: 42)
        for round in 0..<2000 {
            var bytes = program
            // A third of the rounds each: anywhere, in the program headers, in the section headers.
            let range =
                switch round % 3 {
                case 0: 0..<bytes.count
                case 1: 0..<1000
                default: bytes.count - 3000..<bytes.count
                }
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: range, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try askEverything(bytes)
        }
    }
}

/// Sebastiano Vigna's splitmix64.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
