internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// Appends what the kernel tells of a program's start to the file `startup` of a session, in blocks that are whole by themselves.
package final class StartupLogWriter {
    private let descriptor: Int32
    /// The errno that ended the writing; nil while all could be written.
    package private(set) var error: Int32?
    private var bytes = 0
    private var isFull = false

    /// Bytes of events that are kept: of a program that runs on for long, the start is there by then.
    private static let mostBytes = 32 << 20

    package init(in directory: SessionDirectory) throws(SessionFileError) {
        descriptor = try directory.create(SessionFile.startup.name, O_WRONLY | O_APPEND)
    }

    /// Writes the head.
    ///
    /// - Parameters:
    ///   - begin: right before the program was started, in ns of CLOCK_MONOTONIC.
    ///   - refusal: why the kernel tells nothing.
    package func begin(_ pid: UInt32, at begin: UInt64, refusal: String?) {
        let header = fathom_startup(
            magic: FATHOM_STARTUP_MAGIC, version: FATHOM_STARTUP_VERSION,
            header_size: UInt32(MemoryLayout<fathom_startup>.size),
            block_size: UInt32(MemoryLayout<fathom_startup_block>.size),
            event_size: UInt32(MemoryLayout<fathom_startup_event>.size), pid: pid, reserved: 0, begin_ns: begin)
        write(withUnsafeBytes(of: header) { Array($0) })
        if let refusal { append(event: FATHOM_EVENT_REFUSED, name: Array(refusal.utf8)) }
    }

    private func append(event kind: UInt32, name: [UInt8] = []) {
        var event = fathom_startup_event()
        event.kind = UInt16(kind)
        event.name_size = UInt32(name.count)
        var bytes = withUnsafeBytes(of: event) { Array($0) } + name
        while bytes.count % 8 != 0 { bytes.append(0) }
        bytes.withUnsafeBytes { append($0, lost: 0) }
    }

    /// Appends a block of events, with the number of those since the last block that the kernel had no room for.
    package func append(_ events: UnsafeRawBufferPointer, lost: UInt64) {
        if isFull { return }
        bytes += events.count
        let block = fathom_startup_block(
            magic: FATHOM_STARTUP_BLOCK, size: UInt32(events.count), lost: lost,
            sum: fathom_hash(events.baseAddress, events.count))
        write(withUnsafeBytes(of: block) { Array($0) } + Array(events))
        guard bytes > Self.mostBytes else { return }
        append(event: FATHOM_EVENT_FULL)
        isFull = true
    }

    private func write(_ bytes: [UInt8]) {
        guard error == nil else { return }
        let problem = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
        if problem != 0 { error = problem }
    }

    package func close() { Glibc.close(descriptor) }
}
