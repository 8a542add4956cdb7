import Testing

@testable import TraceText

@Suite struct ByteWriterTests {
    private func written(_ body: (ByteWriter) -> Void) -> String {
        var bytes: [UInt8] = []
        let writer = ByteWriter(capacity: 64) { piece in
            bytes.append(contentsOf: piece)
            return true
        }
        body(writer)
        writer.flush()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func numbers() {
        #expect(written { $0.write(decimal: 0) } == "0")
        #expect(written { $0.write(decimal: .max) } == "18446744073709551615")
        #expect(written { $0.write(decimal: 42, width: 5) } == "   42")
        #expect(written { $0.write(hexadecimal: 0) } == "0x0")
        #expect(written { $0.write(hexadecimal: 0x5555_0000_10ab) } == "0x5555000010ab")
        #expect(written { $0.write(hexadecimal: .max) } == "0xffffffffffffffff")
    }

    @Test(arguments: 0..<64 as Range<UInt64>) func numbersOfAnyLength(_ shift: UInt64) {
        var power: UInt64 = 1
        for _ in 0..<(shift % 20) { power *= 10 }
        let bit = UInt64(1) << shift
        for number in [power, power - 1, power &* 9, bit, bit - 1, UInt64.max >> shift] {
            #expect(written { $0.write(decimal: number) } == "\(number)")
            #expect(written { $0.write(decimal: number, width: 3) }.drop { $0 == " " } == "\(number)")
            #expect(written { $0.write(hexadecimal: number) } == "0x" + String(number, radix: 16))
        }
    }

    @Test(
        arguments: [
            (0, "0 ns"), (999, "999 ns"), (1000, "1.00 us"), (1204, "1.20 us"), (39_114, "39.11 us"),
            (99_995, "100.0 us"),
            (999_949, "999.9 us"), (999_950, "1.00 ms"), (39_110_000, "39.11 ms"), (123_400_000, "123.4 ms"),
            (1_500_000_000, "1.50 s"), (3_600_000_000_000, "3600 s"), (.max, "9223372037 s"),
        ] as [(UInt64, String)])
    func times(_ time: UInt64, _ text: String) {
        #expect(written { $0.write(time: time) } == text)
        #expect(written { $0.write(time: time, width: 20) } == String(repeating: " ", count: 20 - text.count) + text)
    }

    @Test func limits() {
        #expect(written { $0.write(limit: 100_000) } == "100us")
        #expect(written { $0.write(limit: 1_500_000) } == "1500us")
        #expect(written { $0.write(limit: 7) } == "7ns")
        #expect(written { $0.write(limit: 2_000_000_000) } == "2s")
    }

    @Test func json() {
        #expect(written { $0.write(json: "a\"b\\c\n\u{1}\u{1f}é") } == #""a\"b\\c\n\u0001\u001fé""#)
        #expect(written { $0.write(json: String(decoding: [0x61, 0xff], as: UTF8.self)) } == "\"a\u{fffd}\"")
    }

    @Test func longTextsPassThrough() {
        let long = String(repeating: "x", count: 1000)
        #expect(
            written {
                $0.write("a"); $0.write(long); $0.write("b")
            } == "a" + long + "b")
    }

    @Test func closesWhenNobodyReads() {
        var taken = 0
        let writer = ByteWriter(capacity: 64) { _ in
            taken += 1
            return false
        }
        for _ in 0..<1000 { writer.write("line\n") }
        #expect(writer.isClosed)
        #expect(taken == 1)
    }

    @Test func dates() {
        #expect(DateText.utc(secondsSinceEpoch: 0) == "1970-01-01 00:00:00 UTC")
        #expect(DateText.utc(secondsSinceEpoch: 1_709_210_096) == "2024-02-29 12:34:56 UTC")
    }
}
