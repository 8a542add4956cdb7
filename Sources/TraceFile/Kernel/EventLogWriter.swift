package import CTraceFormat
internal import Glibc
internal import TraceSystem

/// Appends what the kernel tells of threads to a file of the session, in blocks that are whole by themselves.
package final class EventLogWriter {
    private let descriptor: Int32
    private let maxSize: UInt64
    package private(set) var bytes: UInt64 = 0
    /// The errno that ended the writing; nil while all could be written.
    private var error: Int32?
    /// What ended the writing; nil while all could be written.
    package var problem: String? { error.map { String(cString: strerror($0)) } }

    /// - Parameters:
    ///   - start: the moment from which on events are known, in ns of CLOCK_MONOTONIC.
    ///   - maxSize: nothing is appended beyond this many bytes.
    package init(
        _ kind: KernelEvents, in directory: SessionDirectory, start: UInt64, maxSize: UInt64?
    ) throws(SessionFileError) {
        descriptor = try directory.create(kind.file.name, O_WRONLY | O_APPEND)
        self.maxSize = maxSize ?? .max
        let header = fathom_events(
            magic: kind.magic, version: FATHOM_EVENTS_VERSION,
            header_size: UInt32(MemoryLayout<fathom_events>.size),
            block_size: UInt32(MemoryLayout<fathom_events_block>.size),
            record_size: UInt32(MemoryLayout<fathom_event>.size), start_ns: start)
        let problem = withUnsafeBytes(of: header) { writeAll($0, to: descriptor) }
        guard problem == 0 else {
            Glibc.close(descriptor)
            throw .cannotCreate(path: directory.file(kind.file.name), errno: problem)
        }
        bytes = UInt64(MemoryLayout<fathom_events>.size)
    }

    /// Appends a block.
    ///
    /// - Parameters:
    ///   - until: the moment, in ns of CLOCK_MONOTONIC, up to which all events are in this block or in one before it.
    ///   - lost: events since the last block that the kernel had no room for.
    package func append(_ events: UnsafeBufferPointer<fathom_event>, until: UInt64, lost: UInt64) {
        let records = UnsafeRawBufferPointer(events)
        let size = UInt64(MemoryLayout<fathom_events_block>.size + records.count)
        guard error == nil else { return }
        guard bytes + size <= maxSize else {
            error = EFBIG
            return
        }
        let block = fathom_events_block(
            magic: FATHOM_EVENTS_BLOCK, count: UInt32(events.count), until_ns: until, lost: lost,
            sum: fathom_hash(records.baseAddress, records.count))
        var all: [UInt8] = []
        all.reserveCapacity(Int(size))
        withUnsafeBytes(of: block) { all.append(contentsOf: $0) }
        all.append(contentsOf: records)
        let problem = all.withUnsafeBytes { writeAll($0, to: descriptor) }
        if problem == 0 { return bytes += size }
        error = problem
        // A disk that is full may have taken a part of the block.
        ftruncate(descriptor, off_t(bytes))
    }

    package func close() { Glibc.close(descriptor) }
}
