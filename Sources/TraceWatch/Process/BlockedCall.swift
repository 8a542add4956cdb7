internal import TraceFile

/// The system call that a thread is blocked in.
package struct BlockedCall: Sendable, Equatable {
    package var number: Int
    package var arguments: [UInt64]
    package var stackPointer: UInt64
    package var programCounter: UInt64

    package enum Answer: Equatable {
        case blocked(BlockedCall)
        /// The thread runs, or waits for a processor.
        case running
        /// The kernel does not tell us: we may not look into the process, or it has ended.
        case unknown
    }

    /// Asks the kernel. The thread is not stopped for it.
    package static func of(_ tid: Int32, in pid: Int32) -> Answer {
        let line = SystemFile.firstLine(of: "/proc/\(pid)/task/\(tid)/syscall")
        if line == "running" { return .running }
        let fields = line.split(separator: " ")
        guard let number = fields.first.flatMap({ Int($0) }) else { return .unknown }
        let values = fields.dropFirst().compactMap { UInt64($0.dropFirst(2), radix: 16) }
        // A thread that is blocked outside a system call, as by a page fault, has the number -1 and no arguments.
        guard number >= 0, values.count == 8 else { return number < 0 ? .running : .unknown }
        return .blocked(
            BlockedCall(
                number: number, arguments: Array(values[..<6]), stackPointer: values[6], programCounter: values[7]))
    }
}
