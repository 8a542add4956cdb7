import TestSupport
import Testing

@testable import TraceExport

/// Samples come back as they went in, however they are kept.
@Suite struct FirefoxSamplesTests {
    @Test func random() {
        var random = SeededGenerator(seed: 42)
        var samples = FirefoxSamples(), expected: [FirefoxSamples.Sample] = [], time: UInt64 = 0
        for _ in 0..<200_000 {
            // Lengths of all sizes, some of them 0, and some that take more than 32 bits.
            let bits = random.next() % 40
            let length = random.next() % (UInt64(1) << bits)
            let stack = random.next() % 10 == 0 ? nil : Int32(random.next() % 1000)
            samples.add(stack, until: time + length)
            if let stack, length > 0 { expected.append(.init(stack: stack, start: time, length: length)) }
            time += length
        }
        #expect(samples.count == expected.count && samples.end == time)
        #expect(Array(samples) == expected)
        // They can be read again.
        #expect(samples.map(\.length).reduce(0, +) == expected.map(\.length).reduce(0, +))
        samples.removeAll()
        #expect(samples.count == 0 && Array(samples).isEmpty)
    }

    @Test func longest() {
        var samples = FirefoxSamples()
        let short = UInt64(UInt32.max), long = UInt64(1) << 40
        for time in [short, long, UInt64.max] { samples.add(7, until: time) }
        let lengths: [UInt64] = [short, long - short, UInt64.max - long]
        #expect(samples.map(\.length) == lengths && samples.map(\.stack) == [7, 7, 7])
        // Time that goes back adds nothing.
        samples.add(8, until: 5)
        #expect(samples.count == 3 && samples.end == .max)
    }
}
