package import CTraceFormat
internal import Glibc
internal import TraceFile

/// The file of a session that has what the kernel told of page faults.
package enum FaultFile {
    /// A page fault of `tid` at `time`, in ns since the session's start.
    package static func fault(_ time: UInt64, _ tid: UInt32 = 1000, isMajor: Bool = false) -> fathom_event {
        fathom_event(ns: time, tid: tid, cpu: 0, flags: UInt16(isMajor ? FATHOM_FAULT_MAJOR : 0))
    }

    /// Adds the file, with one block for each of `blocks`, to the session at `session`.
    package static func write(
        _ blocks: [[fathom_event]], until: UInt64 = 1_000_000_000, lost: UInt64 = 0, to session: String
    ) throws {
        let made = "\(session).made"
        let directory = try SessionDirectory(creating: made)
        let writer = try EventLogWriter(.faults, in: directory, start: 0, maxSize: nil)
        for block in blocks { block.withUnsafeBufferPointer { writer.append($0, until: 0, lost: lost) } }
        writer.append(UnsafeBufferPointer(start: nil, count: 0), until: until, lost: 0)
        writer.close()
        guard rename("\(made)/faults", "\(session)/faults") == 0 else {
            throw TestSupportError.failed("move the page faults", errno: errno)
        }
        rmdir(made)
    }
}
