internal import Glibc

extension SeededGenerator {
    /// From 0 to 1.
    public mutating func part() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// From 0 to `count` - 1.
    public mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// Normally distributed, by G. E. P. Box and M. E. Muller (1958).
    public mutating func normal() -> Double {
        (-2 * log(max(part(), 1e-300))).squareRoot() * cos(2 * Double.pi * part())
    }
}
