internal import CTraceFormat

/// Where the open calls of a living thread are, in the memory of its process.
package struct LiveStack: Sendable {
    /// Index of the process in the session, and serial number of the thread in the process.
    package let process: UInt32
    package let thread: UInt32
    /// The kernel's ids of both, as the process sees them.
    package let pid: UInt32
    package let tid: UInt32
    package let name: String
    /// The address of what stands before the outermost call; 0 while nothing is to be read.
    package let calls: UInt64
    /// How many calls there is room for, with that one.
    package let limit: Int
    /// Another one when calls that were open have got other numbers.
    package let epoch: UInt64

    init(_ chunk: LiveChunk, _ stack: fathom_stack) {
        process = chunk.process
        thread = chunk.thread
        pid = chunk.pid
        tid = chunk.tid
        name = chunk.threadName
        calls = stack.calls
        limit = Int(min(stack.limit, UInt64(FATHOM_DEPTH_LIMIT)))
        epoch = stack.epoch
    }
}
