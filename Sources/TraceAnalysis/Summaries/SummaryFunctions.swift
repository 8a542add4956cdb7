internal import Synchronization

/// The numbers that summaries have for functions: 0 for what is not known. Several workers may ask at once.
final class SummaryFunctions {
    struct Key: Hashable {
        var process: UInt32
        var address: UInt64
        /// As of ``AddressSpace/epoch(at:)``.
        var epoch: UInt32
    }

    private struct Known {
        var keys: [Key]
        var numbers: [Key: UInt64]
    }

    private let known: Mutex<Known>
    var keys: [Key] { known.withLock { $0.keys } }

    /// - Parameter keys: those that have numbers already, from 1 on.
    init(_ keys: [Key] = []) {
        var numbers: [Key: UInt64] = [:]
        for (index, key) in keys.enumerated() { numbers[key] = UInt64(index + 1) }
        known = Mutex(Known(keys: keys, numbers: numbers))
    }

    func number(_ key: Key) -> UInt64 {
        if key.address == 0 { return 0 }
        return known.withLock { known in
            if let number = known.numbers[key] { return number }
            known.keys.append(key)
            known.numbers[key] = UInt64(known.keys.count)
            return UInt64(known.keys.count)
        }
    }
}

/// The numbers that one worker has asked for.
struct KnownNumbers {
    private let functions: SummaryFunctions
    private let process: UInt32
    private var numbers: [UInt64: UInt64] = [:]
    private var last: (function: UInt64, number: UInt64) = (0, 0)

    init(_ functions: SummaryFunctions, process: UInt32) {
        self.functions = functions
        self.process = process
    }

    /// - Parameters:
    ///   - function: what tells it in `sink`.
    mutating func number(_ function: UInt64, in sink: SummarySink) -> UInt64 {
        if function == last.function { return last.number }
        var number = numbers[function]
        if number == nil {
            let key = sink.key(function)
            number = functions.number(.init(process: process, address: key.address, epoch: key.epoch))
            numbers[function] = number
        }
        last = (function, number!)
        return number!
    }
}
