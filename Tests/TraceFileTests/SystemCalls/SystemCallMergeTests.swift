import CTraceFormat
import TestSupport
import Testing
import TraceFile

@Suite struct SystemCallMergeTests {
    private let kernel: UInt64 = 0xfa7b_0000_ff00_0000

    private func call(_ number: UInt64, _ begin: UInt64, _ end: UInt64?, result: Int64 = 0) -> SystemCall {
        var event = fathom_system_call_event()
        (event.number, event.ns, event.address) = (Int64(number), begin, 0x4000)
        var call = SystemCall(event)
        (call.end, call.result) = (end, result)
        return call
    }

    private func merge(
        _ records: RecordWriter, _ calls: [SystemCall], begin: UInt64 = 0, end: UInt64, sequence: UInt64 = 0,
        isLast: Bool = false, _ options: RecordOptions = RecordOptions()
    ) -> SystemCallMerge {
        var header = fathom_chunk()
        (header.begin_ticks, header.begin_ns, header.end_ticks, header.end_ns) = (begin, begin, end, end)
        (header.sequence, header.used, header.calls) = (sequence, UInt32(records.bytes.count), records.calls)
        // Its ticks are ns.
        let clock = SessionClock()
        return records.bytes.withUnsafeBytes {
            SystemCallMerge(
                header, $0, calls, isLast: isLast, SystemCallMerge.Limits(options, clock),
                [.init(ticks: 0, nanoseconds: 0)], clock)
        }
    }

    /// What a reader finds, one word a record: system calls by their numbers.
    private func read(_ merge: SystemCallMerge) -> [String] {
        merge.payload.withUnsafeBytes { bytes in
            var cursor = RecordCursor(bytes, ticks: merge.header.begin_ticks, functionBase: merge.header.function_base)
            var words: [String] = []
            while true {
                switch cursor.next() {
                case .enter:
                    let isCall = cursor.function >= kernel
                    let site = cursor.callSite(callerFunction: 0, callerSite: 1)
                    words.append(
                        "\(cursor.ticks) \(isCall ? "sys \(cursor.function - kernel)" : "enter \(cursor.function)") \(site)"
                    )
                case .exit: words.append("\(cursor.ticks) exit")
                case .told:
                    guard case .result(let result) = cursor.told else { continue }
                    words.append(result.result(by: SystemCalls.layouts) ?? "?")
                case .end: return words
                case .malformed: return words + ["malformed"]
                case let other: words.append("\(cursor.ticks) \(other) \(cursor.count)")
                }
            }
        }
    }

    @Test func betweenRecords() {
        var records = RecordWriter(time: 100)
        records.enter(7, at: 110)
        records.enter(8, at: 120, callSite: 0x99)
        records.exit(at: 1_000_000)
        records.exit(at: 1_000_050)
        let merged = merge(
            records,
            [
                call(0, 90, 95, result: 3), call(1, 112, 118, result: -2), call(257, 300, 400_000, result: 4),
                call(3, 1_000_010, 1_000_020), call(231, 1_000_060, nil),
            ], begin: 100, end: 0)
        #expect(
            read(merged) == [
                "90 sys 0 16384", "3", "95 exit", "110 enter 7 0", "112 sys 1 16384", "-1 ENOENT", "118 exit",
                "120 enter 8 153", "300 sys 257 16384", "4", "400000 exit", "1000000 exit", "1000010 sys 3 16384", "0",
                "1000020 exit", "1000050 exit", "1000060 sys 231 16384",
            ])
        #expect(merged.header.begin_ticks == 90 && merged.header.calls == 7)
    }

    /// A clock was read some ns late: records that would lie within a call go to its nearer side.
    @Test func withinCalls() {
        var records = RecordWriter(time: 0)
        records.enter(7, at: 102)
        records.exit(at: 198)
        let merged = merge(records, [call(0, 100, 150), call(1, 160, 200)], end: 300)
        #expect(
            read(merged) == [
                "102 enter 7 0", "102 sys 0 16384", "0", "150 exit", "160 sys 1 16384", "0", "198 exit", "198 exit",
            ])
    }

    /// A chunk that a thread has finished ends where it did, and the last one of a process with its last call.
    @Test(arguments: [false, true]) func atTheEnd(isLast: Bool) {
        var records = RecordWriter(time: 0)
        records.enter(7, at: 10)
        let merged = merge(records, [call(1, 90, 130)], end: 100, sequence: 3, isLast: isLast)
        #expect(read(merged) == ["10 enter 7 0", "90 sys 1 16384", "0", "\(isLast ? 130 : 100) exit"])
        #expect(merged.header.end_ticks == (isLast ? 130 : 100) && merged.header.end_ns == (isLast ? 130 : 100))
    }

    @Test func limits() {
        var records = RecordWriter(time: 0)
        records.enter(7, at: 10)
        records.enter(8, at: 20)
        records.exit(at: 60)
        records.exit(at: 80)
        let calls = [call(0, 1, 9), call(1, 12, 18), call(2, 30, 50), call(3, 65, 66)]
        var options = RecordOptions()
        options.maxDepth = 1
        #expect(numbers(merge(records, calls, end: 100, options)) == ["0", "1", "3"])
        options = RecordOptions()
        options.minCost = 8
        #expect(numbers(merge(records, calls, end: 100, options)) == ["0", "2"])
        options = RecordOptions()
        options.functions.only = ["f"]
        #expect(numbers(merge(records, calls, end: 100, options)) == ["1", "2", "3"])
    }

    private func numbers(_ merge: SystemCallMerge) -> [String] {
        read(merge).filter { $0.contains("sys") }.map { String($0.split(separator: " ")[2]) }
    }

    /// Without the system calls, a chunk says what it said before, whatever records it has.
    @Test(arguments: 1...50 as ClosedRange<UInt64>) func nothingElseChanges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var records = RecordWriter(time: 1000), time: UInt64 = 1000, calls: [SystemCall] = []
        var expected: [String] = []
        for _ in 0..<200 {
            let gap: UInt64 = random.below(4) == 0 ? 100_000 : 12
            if random.below(3) == 0 {
                let call = call([0, 1, 3, 39, 257][random.below(5)], time + gap / 4, time + gap / 2)
                calls.append(call)
                expected += ["\(call.begin) sys \(call.number) 16384", "0", "\(call.end!) exit"]
            }
            time += gap
            switch random.below(6) {
            case 0: records.exit(at: time); expected.append("\(time) exit")
            case 1: records.unwind(2, at: time); expected.append("\(time) unwind 2")
            case 2: records.lane(1, depth: 3, at: time); expected.append("\(time) lane 3")
            case 3:
                records.mark(1, at: time)
                records.enter(0x7f00_0000_1000, at: time, callSite: 0x88)
                expected.append("\(time) enter \(0x7f00_0000_1000) 136")
            case 4: records.counter(3, 1, at: time)
            default: records.enter(77, at: time, sameSite: true); expected.append("\(time) enter 77 1")
            }
        }
        let merged = merge(records, calls, begin: 1000, end: time + 10)
        #expect(read(merged) == expected)
        #expect(merged.header.calls == records.calls + UInt64(calls.count))
    }

    @Test func names() {
        #expect(SystemCalls.name(ofScope: 0xff00_0000) == "sys_read")
        #expect(SystemCalls.name(ofScope: 0xff00_0000 + 257) == "sys_openat")
        #expect(SystemCalls.name(ofScope: 0xff00_0000 + 9999) == "sys_9999")
        #expect(SystemCalls.name(ofScope: 12) == nil)
        #expect(SystemCalls.prototype(257)?.texts == [1])
        for number in 0...500 as ClosedRange<UInt32> {
            #expect(SystemCalls.prototype(number)?.arguments.count ?? 0 <= 6)
        }
    }
}
