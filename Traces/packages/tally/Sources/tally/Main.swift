import CTally
import Engine

@main
struct Main {
    static func main() async {
        var sum = 0
        for round in 0..<10 {
            var first = Rectangle(width: round, height: 3)
            first[0] = first[1] + 1
            let shapes: [any Shape] = [first, Polygon(count: round), Star(count: 5)]
            sum += total(shapes)
            sum += describe(first, times: 4) + describe(Polygon(count: 3), times: 2)
            sum += first == Rectangle(width: 4, height: 3) ? 1 : 0
            sum += survive(0..<round) + closures(round) + leaves(round)
            sum += largest([1, round]) ?? 0
            sum += largest(["a", "b"])?.count ?? 0
            sum += Int(throughC(Int32(round)))
        }
        sum += await concurrent(8)
        print("0 sum \(sum != 0)")
        tally_print()
    }
}
