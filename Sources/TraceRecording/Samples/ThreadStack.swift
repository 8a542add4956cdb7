internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// Reads the open calls of a thread of another process while the thread runs on.
///
/// The calls are copied once, from the outermost on. The thread goes on meanwhile, so the copy may have calls that were
/// not open at once. Each call says which number its caller has (CTraceStack.h), so such a copy is noticed, and dropped. The
/// thread is not looked at again at once: to look delays it for a moment, so that what comes next is not just any
/// function, but what begins or ends there.
struct ThreadStack {
    enum Answer {
        /// ``functions`` are those of the open calls. There may be none.
        case read
        /// The thread was too fast, or goes on in another stack by now.
        case torn
        /// The process has ended, or the system's rules deny it to be looked into.
        case refused(errno: Int32)
    }

    /// Addresses of the functions of the open calls, outermost first.
    private(set) var functions: [UInt64] = []
    /// The numbers of these calls.
    private var numbers: [UInt32] = []
    private var epoch: UInt64 = 0
    private var base: UInt64 = 0
    /// Room for a copy.
    private var calls: [fathom_open_call] = []

    /// The deepest stack of late.
    private var deepest = 0
    /// So many calls beyond the deepest are read, and so many in all where stacks are deeper than that.
    private static let reach = 16, whole = 512
    private static let tries = 5

    /// Reads the calls that are open now.
    ///
    /// - Complexity: O(calls that have begun since the last time).
    mutating func read(_ stack: LiveStack) -> Answer {
        if stack.epoch != epoch || stack.calls != base {
            functions = []
            numbers = []
            (epoch, base) = (stack.epoch, stack.calls)
        }
        // Index 0 stands before the outermost call.
        let last = stack.limit - 1
        guard last >= 0 else { return .torn }
        var low = max(min(deepest, last) - Self.whole, 0), high = min(deepest + Self.reach, last)
        if low > functions.count { low = 0 }
        for _ in 0..<Self.tries {
            let answer = copy(stack, from: low, to: high)
            guard case .read = answer else { return answer }
            var depth = low
            while depth < high, calls[depth + 1 - low].number != 0 { depth += 1 }
            deepest = max(depth, deepest - 1)
            if depth == high, high < last {
                // The stack is far deeper than usual.
                low = 0
                high = min(depth * 2, last)
            } else if low > 0, calls[0].number != numbers[low - 1] {
                // The calls outside of those that were read are not the ones that they were.
                low = 0
            } else {
                return take(from: low, to: depth) ? .read : .torn
            }
        }
        return .torn
    }

    private mutating func copy(_ stack: LiveStack, from low: Int, to high: Int) -> Answer {
        let stride = MemoryLayout<fathom_open_call>.stride, count = high - low + 1, size = count * stride
        if calls.count < count { calls = [fathom_open_call](repeating: fathom_open_call(), count: count) }
        let copied = calls.withUnsafeMutableBytes { calls in
            var piece = fathom_memory(address: stack.calls + UInt64(low * stride), size: UInt64(size))
            return fathom_copy_memory(Int32(bitPattern: stack.pid), calls.baseAddress, UInt(size), &piece, 1)
        }
        if copied == size { return .read }
        return copied < 0 && errno != EFAULT ? .refused(errno: errno) : .torn
    }

    /// Takes the calls from the copy, if they belong together, and to those outside that were read before.
    ///
    /// - Parameters:
    ///   - low: index of the first call in the copy. The calls outside of it are known.
    ///   - depth: index of the innermost call.
    private mutating func take(from low: Int, to depth: Int) -> Bool {
        guard low > 0 || calls[0].function == 0 else { return false }
        for index in stride(from: low + 1, through: depth, by: 1)
        where calls[index - low].caller != calls[index - low - 1].number { return false }
        functions.removeSubrange(low...)
        numbers.removeSubrange(low...)
        for index in stride(from: low + 1, through: depth, by: 1) {
            functions.append(calls[index - low].function)
            numbers.append(calls[index - low].number)
        }
        return true
    }
}
