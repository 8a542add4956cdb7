import Testing

@testable import TraceRecording

@Suite struct DiskPaceTests {
    private let much = DiskPace.most + 1
    private let round: UInt64 = 10_000_000

    @Test func aDiskThatKeepsUp() {
        var pace = DiskPace(at: 0)
        for look in 1...100 {
            let keepsUp = pace.keepsUp(waiting: DiskPace.most, waited: round, at: UInt64(look) * round)
            #expect(keepsUp)
        }
    }

    /// Chunks may also wait because the recorder gets no processor. The page cache is no help there.
    @Test func aRecorderThatStarves() {
        var pace = DiskPace(at: 0)
        for look in 1...100 {
            let keepsUp = pace.keepsUp(waiting: much, waited: round / 3, at: UInt64(look) * round)
            #expect(keepsUp)
        }
    }

    /// A disk that is too slow is tried again after a while, and that is twice as long each time.
    @Test func aSlowDisk() {
        var pace = DiskPace(at: 0), now: UInt64 = 0, rests: [UInt64] = []
        for _ in 0..<12 {
            now += round
            let keepsUp = pace.keepsUp(waiting: much, waited: round, at: now), begin = now
            #expect(!keepsUp)
            repeat { now += round } while !pace.keepsUp(waiting: 0, waited: 0, at: now)
            rests.append(now - begin)
        }
        #expect(rests.prefix(9) == (0..<9).map { DiskPace.rests.lowerBound << $0 }[...])
        #expect(rests.suffix(3) == [DiskPace.rests.upperBound, DiskPace.rests.upperBound, DiskPace.rests.upperBound])
    }
}
