/// Converts ticks of the session's clock to nanoseconds since the session's start.
///
/// One 64 × 64 -> 128 bit multiplication and a shift; monotone, so differences of converted times add up exactly.
@frozen
public struct Clock: Sendable {
    @usableFromInline let startTicks: UInt64
    @usableFromInline let multiplier: UInt64
    @usableFromInline let shift: UInt64

    /// A clock whose ticks are nanoseconds.
    public init(monotonicFrom startTicks: UInt64) {
        self.init(startTicks: startTicks, ticks: 1, nanoseconds: 1)
    }

    /// A clock on which `ticks` took `nanoseconds`. Zero operands count as 1.
    public init(startTicks: UInt64, ticks: UInt64, nanoseconds: UInt64) {
        let ticks = max(ticks, 1)
        let nanoseconds = max(nanoseconds, 1)
        // The largest shift for which nanoseconds * 2^shift / ticks still fits 63 bits: at least 62 significant bits.
        var shift: UInt64 = 62
        var divided = Clock.scaled(nanoseconds, by: shift, over: ticks)
        while divided == nil, shift > 1 {
            shift -= 1
            divided = Clock.scaled(nanoseconds, by: shift, over: ticks)
        }
        self.startTicks = startTicks
        self.multiplier = divided ?? 1
        self.shift = shift
    }

    private static func scaled(_ value: UInt64, by shift: UInt64, over divisor: UInt64) -> UInt64? {
        let high = value >> (64 - shift)
        guard high < divisor else { return nil }
        let quotient = divisor.dividingFullWidth((high, value << shift)).quotient
        return quotient < 1 << 63 ? quotient : nil
    }

    /// Nanoseconds from the session's start to `ticks`; 0 for moments before the start.
    @inlinable @inline(__always)
    public func nanoseconds(at ticks: UInt64) -> UInt64 {
        nanoseconds(in: ticks > startTicks ? ticks &- startTicks : 0)
    }

    /// Length of a stretch of `ticks`, in nanoseconds, rounded down.
    @inlinable @inline(__always)
    public func nanoseconds(in ticks: UInt64) -> UInt64 {
        let product = ticks.multipliedFullWidth(by: multiplier)
        return product.high &<< (64 &- shift) | product.low &>> shift
    }

    /// The tick at which `nanoseconds(at:)` is about `nanoseconds`.
    public func ticks(at nanoseconds: UInt64) -> UInt64 {
        let high = nanoseconds >> (64 - shift)
        guard high < multiplier else { return .max }
        let elapsed = multiplier.dividingFullWidth((high, nanoseconds << shift)).quotient
        let (sum, overflow) = startTicks.addingReportingOverflow(elapsed)
        return overflow ? .max : sum
    }

    /// How many ticks `nanoseconds` take, about.
    public func ticks(in nanoseconds: UInt64) -> UInt64 {
        let ticks = ticks(at: nanoseconds)
        return ticks == .max ? .max : ticks - startTicks
    }

    /// Ticks per second, for display.
    public var frequency: Double { 1e9 / (Double(multiplier) / Double(UInt64(1) << shift)) }
}
