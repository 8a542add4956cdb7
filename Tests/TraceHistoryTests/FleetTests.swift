import TestSupport
import Testing
import TraceAnalysis

@testable import TraceHistory

/// What the fleet's tables are made of: numbers of stacks, differences of sums, and what is kept from one interval to the next.
@Suite struct FleetTests {
    /// The vectors that the paper's authors publish: key 00 01 … 0f, messages 00 01 ….
    @Test(
        arguments: [
            (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (7, 0xab02_00f5_8b01_d137),
            (8, 0x93f5_f579_9a93_2462),
            (15, 0xa129_ca61_49be_45e5), (63, 0x958a_324c_eb06_4572),
        ] as [(Int, UInt64)])
    func sipHash(_ length: Int, _ expected: UInt64) {
        let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        #expect(SipHash.hash((0..<length).map { UInt8($0) }, key: key) == expected)
    }

    /// Numbers as another program, in Python, has computed them. They stay as they are: files of years are joined by them.
    @Test func stackIDs() {
        let main = FleetStack.id(caller: 0, module: "", name: "main")
        #expect(main == 0x1b9d_2e3c_4d07_6f8e)
        #expect(FleetStack.id(caller: main, module: "libfoo.so", name: "größer()") == 0xbd7b_593d_17dc_487f)
    }

    /// Whatever order functions and addresses come in, the same path has the same number.
    @Test func stacksOfContent() throws {
        let content = SyntheticRun().content
        let stacks = FleetStack.all(of: content)
        #expect(stacks.map(\.name) == SyntheticRun.names && stacks.map(\.depth) == [0, 1, 1, 2, 2, 3])
        #expect(Set(stacks.map(\.id)).count == stacks.count)
        var other = content
        other.functions.reverse()
        for index in other.paths.indices {
            other.paths[index].function = content.functions.count - 1 - content.paths[index].function
        }
        #expect(FleetStack.all(of: other).map(\.id) == stacks.map(\.id))
        #expect(stacks[5].id == FleetStack.id(caller: stacks[4].id, module: stacks[5].module, name: "leaf"))
    }

    private func sums(_ durations: [UInt64], total: UInt64? = nil) throws -> FleetSums {
        var sums = SubjectSums()
        sums.calls = UInt64(durations.count)
        sums.total = total ?? durations.reduce(0, +)
        sums.selfTime = sums.total / 2
        (sums.minimum, sums.maximum) = (durations.min() ?? 0, durations.max() ?? 0)
        if durations.count > 2 {
            var reader = DurationReader()
            for duration in durations { reader.add(duration) }
            sums.durations = reader.take()
        }
        return FleetSums(sums, keepsTimes: true)
    }

    private func counts(_ sums: FleetSums) -> [UInt64: Int64] {
        Dictionary(uniqueKeysWithValues: sums.durations.map { (DurationCounts.middle(of: $0.bucket), $0.calls) })
    }

    @Test func oneAndTwoCallsHaveDurations() throws {
        #expect(counts(try sums([7])) == [7: 1])
        #expect(counts(try sums([7, 7])) == [7: 2])
        #expect(counts(try sums([7, 50])) == [7: 1, 50: 1])
    }

    /// A difference has what is new, as exact as it can be known.
    @Test func differences() throws {
        let before = try sums([10, 20, 30]), now = try sums([10, 20, 30, 20, 40, 5])
        let new = now.since(before)
        #expect(new.calls == 3 && new.total == 65 && counts(new) == [5: 1, 20: 1, 40: 1])
        #expect(new.minimum == 5 && new.maximum == 40)
        // Neither the shortest nor the longest of all: the bucket's bounds.
        let inner = try sums([10, 20, 30, 21]).since(before)
        #expect(inner.minimum == 21 && inner.maximum == 21 && inner.calls == 1)
        let far = try sums([10, 20_000, 1_000_000, 20_100]).since(try sums([10, 20_000, 1_000_000]))
        let (least, most) = (try #require(far.minimum), try #require(far.maximum))
        #expect(least <= 20_100 && most >= 20_100 && most - least < 700)
        #expect(try sums([1, 2]).since(sums([1, 2])).isNothing)
    }

    /// A call that goes on is moved to where it belongs now, so that differences add up to the last sums.
    @Test func openCallsMove() throws {
        let moments = try [sums([100]), sums([5000]), sums([9000, 30]), sums([20_000, 30, 40])]
        var last = FleetSums(), all: [UInt64: Int64] = [:], calls: Int64 = 0, total: Int64 = 0
        for moment in moments {
            let new = moment.since(last)
            for (bucket, count) in counts(new) { all[bucket, default: 0] += count }
            calls += new.calls
            total += new.total
            last = moment
        }
        #expect(all.filter { $0.value != 0 } == counts(moments[3]) && calls == 3 && total == 20_070)
        #expect(moments[1].since(moments[0]).calls == 0 && moments[1].since(moments[0]).maximum == 5000)
    }

    /// How long a call has been open is not taken for the shortest call, whether or not others have ended.
    @Test func openPartsAreNoShortestCalls() throws {
        func moment(_ ended: [UInt64], open: UInt64) throws -> FleetSums {
            var all = SubjectSums()
            all.calls = UInt64(ended.count + 1)
            all.total = ended.reduce(open, +)
            (all.minimum, all.maximum) = (min(ended.min() ?? open, open), max(ended.max() ?? open, open))
            all.shortestEnded = ended.min() ?? .max
            if ended.count > 1 {
                var reader = DurationReader()
                for duration in ended + [open] { reader.add(duration) }
                all.durations = reader.take()
            }
            return FleetSums(all, keepsTimes: true)
        }
        let first = try moment([], open: 12)
        #expect(first.minimum == nil && first.maximum == 12)
        #expect(first.since(FleetSums()).minimum == nil && first.since(FleetSums()).maximum == 12)
        let second = try moment([5000], open: 12)
        #expect(second.since(first).minimum == 5000)
        let third = try moment([5000, 6000, 6000], open: 3)
        #expect(try #require(third.since(second).minimum) >= 5000)
        #expect(try moment([5000, 6000, 6000, 40], open: 3).since(third).minimum == 40)
        // Only the open call goes on: nothing has ended.
        let later = try moment([5000, 6000, 6000], open: 900).since(third)
        #expect(later.minimum == nil && later.maximum.map { $0 >= 900 && $0 < 1000 } == true)
        // It ends within the bucket in which it was: it is the shortest one now.
        #expect(try sums([5010]).since(moment([], open: 5000)).minimum == 5010)
    }

    @Test func statesAreReadAsTheyWereWritten() throws {
        var state = FleetState()
        (state.part, state.time, state.files) = (
            7, 1_795_000_000_000_000_000, ["stack/date=x/program=größer/a.parquet", ""]
        )
        state.sums = [1: try sums([1, 70, 90_000]), .max: FleetSums(), 9: try sums([3]).since(try sums([800, 3]))]
        let bytes = state.bytes
        #expect(FleetState(bytes: bytes) == state)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(FleetState(bytes: damaged) == nil)
        }
        for count in bytes.indices { #expect(FleetState(bytes: Array(bytes[..<count])) == nil) }
        #expect(FleetState(bytes: FleetState().bytes) == FleetState())
    }

    @Test func dates() {
        let days: [(UInt64, String)] = [
            (0, "1970-01-01"), (951_782_400, "2000-02-29"), (951_868_799, "2000-02-29"), (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"), (1_735_689_600, "2025-01-01"), (4_107_542_400, "2100-03-01"),
        ]
        for (seconds, date) in days { #expect(FleetFile.date(of: seconds * 1_000_000_000) == date) }
    }

    @Test func names() {
        #expect(FleetFile.escaped("a b/c=d%é") == "a%20b%2Fc%3Dd%25%C3%A9")
        #expect(FleetFile.name(session: 0xab, part: 12) == "00000000000000ab-000012")
        #expect(
            FleetFile.isPart("00000000000000ab-000012.parquet") && FleetFile.isPart("00000000000000ab-1000000.parquet"))
        for other in ["00000000000000ab.parquet", "00000000000000ab-000012.parquet.x", "notes-000012.parquet"] {
            #expect(!FleetFile.isPart(other))
        }
    }
}
