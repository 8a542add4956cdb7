import TestSupport
import Testing
import TraceAnalysis

@testable import TraceHistory

@Suite struct TileTests {
    static func sums(_ random: inout SeededGenerator, hasTimes: Bool = true) -> SubjectSums {
        var sums = SubjectSums()
        sums.calls = random.next() % 5 == 0 ? random.next() % 1_000_000 : random.next() % 4
        guard hasTimes, sums.calls > 0 else { return sums }
        sums.minimum = random.next() % 10_000
        sums.maximum = sums.calls == 1 ? sums.minimum : sums.minimum + random.next() % 100_000
        sums.total = sums.maximum + random.next() % 1_000_000
        sums.selfTime = sums.total - random.next() % (sums.total + 1)
        if random.next() % 3 == 0 { (sums.blocked, sums.runnable) = (random.next() % 1000, random.next() % 1000) }
        if sums.calls > 2 {
            var reader = DurationReader()
            for _ in 0..<(1 + random.next() % 9) { reader.add(random.next() % 1_000_000) }
            sums.durations = reader.take()
        }
        return sums
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var members: [(place: Int, sums: SubjectSums)] = []
        for place in 0..<Tile.width where random.next() % 3 > 0 || place == 31 {
            members.append((place, Self.sums(&random, hasTimes: seed % 4 != 0)))
        }
        let bytes = Tile.encode(members)
        bytes.withUnsafeBytes { bytes in
            let all = Tile.all(in: bytes)
            #expect(all?.map(\.place) == members.map(\.place) && all?.map(\.sums) == members.map(\.sums))
            for place in 0..<Tile.width {
                let known = members.first { $0.place == place }?.sums
                #expect(Tile.sums(at: place, in: bytes, wantsDurations: true) == (known.map { .sums($0) } ?? .absent))
            }
        }
    }

    /// No bytes whatever are more than nothing.
    @Test func damagedBytes() {
        var random = SeededGenerator(seed: 3)
        let whole = Tile.encode((0..<Tile.width).map { ($0, Self.sums(&random)) })
        for _ in 0..<2000 {
            var bytes = Array(whole.prefix(Int(random.next() % UInt64(whole.count + 1))))
            if !bytes.isEmpty {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes.withUnsafeBytes { bytes in
                _ = Tile.all(in: bytes)
                _ = Tile.sums(at: Int(random.next() % 32), in: bytes, wantsDurations: true)
            }
        }
        #expect([UInt8]().withUnsafeBytes { Tile.all(in: $0)?.count } == nil)
    }
}
