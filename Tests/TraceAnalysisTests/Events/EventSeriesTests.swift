import TestSupport
import Testing
import TraceAnalysis

@Suite struct EventSeriesTests {
    private typealias Point = EventSeries.Point

    /// Of very many values, the first, the last and the greatest stay, each where it was.
    @Test func peaks() {
        var generator = SeededGenerator(seed: 3), series = EventSeries(isCounter: true, most: 64)
        var all: [Point] = []
        for moment in 0..<100_000 {
            let value = moment == 31_337 ? 5000 : moment == 77_777 ? -5000 : Double(generator.below(1000))
            all.append(Point(moment: UInt64(moment), value: value))
            series.add(all[moment])
            #expect(series.points.count <= 64)
        }
        #expect(series.points.count > 16 && series.points.last == all.last)
        #expect(Int(series.leftOut) + series.points.count == all.count)
        #expect(series.points.allSatisfy { all[Int($0.moment)] == $0 })
        #expect(zip(series.points, series.points.dropFirst()).allSatisfy { $0.moment < $1.moment })
        #expect(series.points.contains(all[31_337]) && series.points.contains(all[77_777]))
    }

    @Test func marks() {
        var series = EventSeries(isCounter: false, most: 8)
        for moment in 0..<1000 { series.add(Point(moment: UInt64(moment), value: 0)) }
        #expect(series.points.first?.moment == 0 && series.points.last?.moment == 999)
        var few = EventSeries(isCounter: false, most: 8)
        for moment in 0..<8 { few.add(Point(moment: UInt64(moment), value: 0)) }
        #expect(few.leftOut == 0 && few.points.count == 8)
    }
}
