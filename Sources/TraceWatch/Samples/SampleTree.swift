internal import TraceFile

/// Stacks of one thread, added up by path.
struct SampleTree {
    private(set) var paths: [SampledProcess.Path] = []
    private var places: [Key: Int] = [:]
    private(set) var samples: UInt64 = 0

    private struct Key: Hashable {
        var caller: Int
        var function: UInt64
    }

    /// - Parameter stack: addresses of functions, outermost first.
    mutating func add(_ stack: some Sequence<UInt64>) {
        samples += 1
        var caller = -1
        for function in stack {
            let key = Key(caller: caller, function: function)
            let place = places[key] ?? paths.count
            if place == paths.count {
                places[key] = place
                paths.append(SampledProcess.Path(caller: caller < 0 ? nil : caller, function: function, samples: 0))
            }
            paths[place].samples += 1
            caller = place
        }
    }
}
