/// The numbers that an order file's gain is told by on phones: pages of 16 KiB, a function counted on the page where it begins,
/// half a millisecond a page.
public struct StartPages: Sendable, Equatable {
    public static let pageSize: UInt64 = 16 * 1024

    /// Pages of all code, ...
    public let all: UInt64
    /// ... that ordered functions begin on, ...
    public let now: UInt64
    /// ... and that they would take.
    public let then: UInt64

    public var saved: UInt64 { now - then }
    /// Estimated, in ms.
    public var milliseconds: UInt64 { UInt64((Double(saved) * 0.5).rounded(.toNearestOrEven)) }

    /// - Parameters:
    ///   - functions: the ordered ones.
    ///   - code: the section that holds code.
    public init(_ functions: [Range<UInt64>], code: Range<UInt64>) {
        let size = StartPages.pageSize
        all = UInt64(code.count) / size + 1
        let starts = Set(functions.map { ($0.lowerBound &- code.lowerBound) / size })
        now = UInt64(starts.count)
        then = min(now, functions.reduce(0) { $0 + UInt64($1.count) } / size + 1)
    }
}
