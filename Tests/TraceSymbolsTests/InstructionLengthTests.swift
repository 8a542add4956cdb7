import Glibc
import TestSupport
import Testing

@testable import TraceSymbols

#if arch(x86_64)
    private let isX86 = true
#else
    private let isX86 = false
#endif

/// The lengths of instructions are those that a disassembler finds.
@Suite struct InstructionLengthTests {
    private func lengths(_ bytes: [UInt8]) -> [Int] {
        let decoder = InstructionLengths()
        var found: [Int] = []
        bytes.withUnsafeBytes { code in
            var position = 0
            while position < code.count {
                let length = decoder.length(code, at: position)
                found.append(length)
                if length == 0 { break }
                position += length
            }
        }
        return found
    }

    @Test func knowsEachKindOfInstruction() {
        // push %rbp; endbr64; mov $1,%eax; movabs $2,%rax; mov 8(%rsp,%rbx,4),%eax; lea 0(%rip),%rdi; movw $3,(%rax)
        #expect(lengths([0x55]) == [1])
        #expect(lengths([0xf3, 0x0f, 0x1e, 0xfa]) == [4])
        #expect(lengths([0xb8, 1, 0, 0, 0]) == [5])
        #expect(lengths([0x48, 0xb8, 2, 0, 0, 0, 0, 0, 0, 0]) == [10])
        #expect(lengths([0x8b, 0x44, 0x9c, 0x08]) == [4])
        #expect(lengths([0x48, 0x8d, 0x3d, 0, 0, 0, 0]) == [7])
        #expect(lengths([0x66, 0xc7, 0x00, 3, 0]) == [5])
        // test $1,%al by F6 and not %al by the same opcode; jne; nopw of ten bytes; vzeroupper; vpalignr; ret at the very end
        #expect(lengths([0xf6, 0xc0, 0x01, 0xf6, 0xd0]) == [3, 2])
        #expect(lengths([0x0f, 0x85, 0, 0, 0, 0]) == [6])
        #expect(lengths([0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]) == [10])
        #expect(lengths([0xc5, 0xf8, 0x77, 0xc3]) == [3, 1])
        #expect(lengths([0xc4, 0xe3, 0x79, 0x0f, 0xc1, 0x08]) == [6])
        // vpxord (%rax),%zmm1,%zmm2 with a displacement of a byte
        #expect(lengths([0x62, 0xf1, 0x75, 0x48, 0xef, 0x50, 0x01]) == [7])
    }

    @Test func refusesWhatIsNone() {
        for byte: UInt8 in [0x06, 0x0e, 0x16, 0x1e, 0x27, 0x60, 0x82, 0x9a, 0xce, 0xd4, 0xea] {
            #expect(lengths([byte, 0, 0, 0, 0, 0, 0]) == [0], "\(byte)")
        }
        #expect(lengths([0x48]) == [0] && lengths([0xb8, 1]) == [0] && lengths([]) == [])
        #expect(lengths([UInt8](repeating: 0x66, count: 20)) == [0])
    }

    /// A piece of the C library, which has instructions for each kind of processor; FATHOM_INSTRUCTIONS names another file,
    /// of which all code is looked at.
    @Test(.enabled(if: isX86)) func agreesWithObjdump() throws {
        let given = getenv("FATHOM_INSTRUCTIONS").map { String(cString: $0) }
        let path = given ?? "/lib/x86_64-linux-gnu/libc.so.6"
        let file = try ELFFile(path: path)
        let section = try #require(file.executableBytes.max { $0.bytes.count < $1.bytes.count })
        let size = given == nil ? min(section.bytes.count, 60_000) : section.bytes.count
        // The vectorised functions come last.
        let start = section.range.upperBound - UInt64(size)
        let output = try run(
            "objdump",
            [
                "-d", "--no-show-raw-insn", "--start-address=\(start)", "--stop-address=\(section.range.upperBound)",
                path,
            ])
        var addresses: [UInt64] = []
        var isBad: [Bool] = []
        for line in output.stdout.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"),
                let address = UInt64(line[..<colon].drop { $0 == " " }, radix: 16)
            else { continue }
            addresses.append(address)
            isBad.append(line.contains("(bad)"))
        }
        let decoder = InstructionLengths()
        var wrong: [String] = []
        section.bytes.withUnsafeBytes { code in
            for (index, next) in addresses.dropFirst().enumerated() where !isBad[index] {
                let length = decoder.length(code, at: Int(addresses[index] - section.range.lowerBound))
                let address = addresses[index]
                if length != Int(next - address) { wrong.append("\(String(address, radix: 16)): \(length)") }
            }
        }
        #expect(addresses.count > 10_000 && wrong.isEmpty, "\(addresses.count): \(wrong.prefix(5))")
    }
}
