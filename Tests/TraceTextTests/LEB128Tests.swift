import Testing

@testable import TraceText

@Suite struct LEB128Tests {
    private func reading<Result>(_ bytes: [UInt8], _ body: (inout LEB128Reader) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes)
            return body(&reader)
        }
    }

    @Test func numbersComeBack() {
        let numbers = (0..<64).flatMap { [UInt64(1) << $0, (UInt64(1) << $0) &- 1, UInt64.max >> $0] }
        var bytes: [UInt8] = []
        for number in numbers {
            let before = bytes.count
            bytes.append(leb128: number)
            #expect(bytes.count - before == number.leb128Size)
        }
        #expect(reading(bytes) { reader in numbers.allSatisfy { reader.take() == $0 } && reader.isAtEnd })
    }

    /// The examples of DWARF 5, table 7.7, and of protobuf's encoding.
    @Test func asOthersWriteThem() {
        func bytes(_ number: UInt64) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(leb128: number)
            return bytes
        }
        #expect(bytes(2) == [2] && bytes(127) == [127] && bytes(128) == [0x80, 1] && bytes(12857) == [0x80 + 57, 100])
        var signed: [UInt8] = []
        for number in [0, -1, 1, -2, .max, .min] as [Int64] { signed.append(zigzag: number) }
        #expect(signed.prefix(4) == [0, 1, 2, 3])
        #expect(reading(signed) { reader in (0..<6).map { _ in reader.takeZigzag() } } == [0, -1, 1, -2, .max, .min])
    }

    @Test func bytesBehindTheirNumber() {
        var bytes: [UInt8] = []
        bytes.append(counted: "text".utf8)
        bytes.append(counted: [])
        #expect(bytes == [4] + Array("text".utf8) + [0])
        #expect(reading(bytes) { [$0.takeBytes(), $0.takeBytes()] } == [Array("text".utf8), []])
    }

    /// What ends too early, or has no end, is no number; nothing behind it is believed.
    @Test(
        arguments: [
            [0x80], [], [UInt8](repeating: 0x80, count: 11) + [1], [5, 1],
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] as [[UInt8]])
    func damage(_ bytes: [UInt8]) {
        reading(bytes) { reader in
            #expect(reader.takeBytes().isEmpty && reader.hasFailed)
            #expect(reader.take() == 0 && reader.takeCount() == 0 && reader.take(1).isEmpty && !reader.isAtEnd)
        }
    }
}
