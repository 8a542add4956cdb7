/// Stacks of one thread, added up by path.
public struct SampleTree: Sendable {
    public private(set) var paths: [SampledProcess.Path] = []
    private var places: [Key: Int] = [:]
    /// The most paths. A call without a path of its own counts with its nearest caller that has one.
    public var limit: Int

    private struct Key: Hashable {
        var caller: Int
        var function: UInt64
    }

    /// - Parameter limit: see ``limit``.
    public init(limit: Int = .max) { self.limit = limit }

    /// - Parameters:
    ///   - stack: addresses of functions, outermost first.
    ///   - time: what the sample stands for, in the caller's unit.
    public mutating func add(_ stack: some Sequence<UInt64>, time: UInt64 = 0) {
        var caller = -1
        for function in stack {
            let key = Key(caller: caller, function: function)
            let place = places[key] ?? paths.count
            if place == paths.count {
                if place >= limit { return }
                places[key] = place
                paths.append(SampledProcess.Path(caller: caller < 0 ? nil : caller, function: function, samples: 0))
            }
            paths[place].samples += 1
            paths[place].time += time
            caller = place
        }
    }
}
