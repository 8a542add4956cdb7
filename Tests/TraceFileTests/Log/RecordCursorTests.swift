import CTraceFormat
import TestSupport
import Testing
import TraceFile

@Suite struct RecordCursorTests {
    /// What the cursor reads, one word a record.
    private func read(_ bytes: [UInt8], base: UInt32 = 0, time: UInt64 = 0) -> [String] {
        bytes.withUnsafeBytes { bytes in
            var cursor = RecordCursor(bytes, ticks: time, functionBase: base)
            var read: [String] = []
            while true {
                let record = cursor.next()
                switch record {
                case .enter:
                    let site = cursor.callSite(callerFunction: 0x1000, callerSite: 0x77)
                    read.append(
                        "\(cursor.ticks) enter \(String(cursor.function, radix: 16)) \(String(site, radix: 16))")
                case .exit: read.append("\(cursor.ticks) exit")
                case .unwind: read.append("\(cursor.ticks) unwind \(cursor.count)")
                case .lane: read.append("\(cursor.ticks) lane \(cursor.lane) depth \(cursor.count)")
                case .dropped: read.append("\(cursor.ticks) dropped \(cursor.count) \(cursor.droppedTicks)")
                case .task:
                    let piece = cursor.piece
                    read.append(
                        "\(cursor.ticks) task \(piece.task) \(piece.depth) \(piece.isResumed) \(piece.resume) \(piece.chain)"
                    )
                case .told: read.append("\(cursor.ticks) \(text(cursor.told))")
                case .end, .malformed:
                    read.append("\(record) \(cursor.remaining)")
                    return read
                }
            }
        }
    }

    private func text(_ told: Told) -> String {
        switch told {
        case .mark(let name): "mark \(name)"
        case .counter(let name, let value): "counter \(name) \(value)"
        case .arguments(let arguments), .result(let arguments): "arguments \(arguments.count)"
        case .wait(let wait): "wait \(wait.kind) \(wait.object)"
        case .wake(let wake): "wake \(wake.kind) \(wake.object)"
        case .away(let time): "away \(time)"
        case .memory(let block): "\(block.kind) \(String(block.address, radix: 16)) \(block.size)"
        }
    }

    /// Records that fill a chunk up change nothing, however many bytes they have to take.
    @Test func filled() {
        var records = RecordWriter(time: 0)
        records.enter(0x1040, at: 10)
        let read = read(records.bytes)
        for size in 0...600 where fathom_can_fill(size) != 0 {
            var filler = [UInt8](repeating: 0, count: size)
            filler.withUnsafeMutableBytes { fathom_fill($0.baseAddress, size, 0) }
            #expect(self.read(records.bytes + filler) == read, "\(size) bytes")
        }
        #expect((0...600).filter { $0 % 2 == 0 && fathom_can_fill($0) == 0 } == [2, 4, 10])
    }

    /// What happened to memory, as the runtime writes it.
    @Test func memory() {
        let numbers = [FATHOM_ALLOCATED, FATHOM_FREED, FATHOM_MAPPED, FATHOM_UNMAPPED]
        var bytes = [UInt8](repeating: 0, count: 20 * numbers.count)
        bytes.withUnsafeMutableBytes { bytes in
            var place = bytes.baseAddress!
            for number in numbers {
                var block = fathom_block(address: 0x7f00_0000_1000, size: number == FATHOM_FREED ? 0 : 1 << 40)
                place = fathom_put_told(place, number, &block, 16)
            }
        }
        let size = 1 << 40
        #expect(
            read(bytes, time: 5) == [
                "5 allocated 7f0000001000 \(size)", "5 freed 7f0000001000 0", "5 mapped 7f0000001000 \(size)",
                "5 unmapped 7f0000001000 \(size)", "end 0",
            ])
    }

    /// Records that say their size are passed over when they are of a kind that is not known.
    @Test func recordsOfTheirOwnSize() {
        func sized(_ special: UInt32, _ size: UInt16) -> [UInt8] {
            withUnsafeBytes(of: UInt16(special << 1)) { Array($0) } + withUnsafeBytes(of: size) { Array($0) }
        }
        var exit = RecordWriter(time: 0)
        exit.exit(at: 7)
        let arguments = sized(FATHOM_ARGUMENTS, 6) + [1, 0, 0, 0, 0, 0]
        let unknown = sized(FATHOM_SIZED + 9, 4) + [0xff, 0xff, 0xff, 0xff]
        #expect(read(arguments + unknown + exit.bytes) == ["0 arguments 6", "7 exit", "end 0"])
        #expect(read(arguments.dropLast(2)) == ["malformed 8"])
        #expect(read(sized(FATHOM_SIZED, 3) + [0, 0, 0, 0]) == ["malformed 8"])
    }

    @Test func everyKind() {
        var records = RecordWriter(time: 100)
        records.enter(0x5555_0000_1040, at: 110, callSite: 0x5555_0000_2222)
        records.enter(0x5555_0000_1080, at: 120, siteOffset: 0x20)
        records.enter(0x5555_0000_10c0, at: 120, sameSite: true)
        records.exit(at: 150)
        records.dropped(3, ticks: 12)
        records.mark(8, at: 151)
        records.counter(24, 2.5, at: 160)
        records.unwind(2, at: 5_000_000_000_000)
        records.lane(7, depth: 0, at: 5_000_000_000_001)
        records.task(12, isResumed: true, resume: 0x1234, contexts: [50, 40, 30, 20, 10])
        records.task(13)
        #expect(
            read(records.bytes, time: 100) == [
                "110 enter 555500001040 555500002222", "120 enter 555500001080 1020", "120 enter 5555000010c0 77",
                "150 exit", "150 dropped 3 12", "151 mark 8", "160 counter 24 2.5", "5000000000000 unwind 2",
                "5000000000001 lane 7 depth 0",
                "5000000000001 task 12 5 true 4660 [50, 40, 30, 20]", "5000000000001 task 13 0 false 0 []", "end 0",
            ])
    }

    /// The bytes of the example in FORMAT.md.
    @Test func documentedExample() {
        let bytes: [UInt8] = [
            0x82, 0xff, 0x55, 0x55, 0x00, 0x00,
            0x84, 0xff, 0x22, 0x22, 0x00, 0x00, 0x55, 0x55, 0x00, 0x00,
            0x15, 0x00, 0x00, 0x00, 0x40, 0x10, 0x00, 0x00,
            0x15, 0x00, 0x20, 0x00, 0x80, 0x10, 0x00, 0x00,
            0x3c, 0x00,
            0x80, 0xff, 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00,
            0x86, 0xff, 0x01, 0x00, 0x00, 0x00,
        ]
        var records = RecordWriter(time: 100)
        records.enter(0x5555_0000_1040, at: 110, callSite: 0x5555_0000_2222)
        records.enter(0x5555_0000_1080, at: 120, siteOffset: 0x20)
        records.exit(at: 150)
        records.unwind(1, at: 1_000_150)
        #expect(records.bytes == bytes)
        // The second call's site is 0x20 into its caller, which this reader takes to be at 0x1000.
        #expect(
            read(bytes, time: 100) == [
                "110 enter 555500001040 555500002222", "120 enter 555500001080 1020", "150 exit",
                "1000150 unwind 1", "end 0",
            ])
    }

    @Test func everyPrefixReadsUpToItsLastWholeRecord() {
        var records = RecordWriter(time: 0)
        records.enter(0x5555_0000_1040, at: 10, callSite: 0x5555_0000_2222)
        records.unwind(1, at: 100_000)
        records.enter(0x1_0000_0000, at: 100_001)
        records.exit(at: 1_000_000)
        let whole = read(records.bytes)
        for length in records.bytes.indices {
            let part = read(Array(records.bytes[..<length]))
            #expect(Array(whole.prefix(part.count - 1)) == Array(part.dropLast()))
        }
    }

    @Test func anyBytesMayBeRead() {
        var random = SeededGenerator(seed: 1)
        for length in 0..<2000 {
            let bytes = (0..<(length % 97)).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(!read(bytes, base: .max, time: .max).isEmpty)
        }
    }
}
