package import CTraceFormat
internal import Glibc

/// Appends context switches to the file `switches` of a session, in blocks that are whole by themselves.
package final class SwitchLogWriter {
    private let descriptor: Int32
    private let maxSize: UInt64
    package private(set) var bytes: UInt64 = 0
    /// The errno that ended the writing; nil while all could be written.
    package private(set) var error: Int32?

    /// - Parameters:
    ///   - start: the moment from which on switches are known, in ns of CLOCK_MONOTONIC.
    ///   - maxSize: nothing is appended beyond this many bytes.
    package init(in directory: SessionDirectory, start: UInt64, maxSize: UInt64?) throws(SessionFileError) {
        descriptor = try directory.create(SessionFile.switches.name, O_WRONLY | O_APPEND)
        self.maxSize = maxSize ?? .max
        let header = fathom_switches(
            magic: FATHOM_SWITCHES_MAGIC, version: FATHOM_SWITCHES_VERSION,
            header_size: UInt32(MemoryLayout<fathom_switches>.size),
            block_size: UInt32(MemoryLayout<fathom_switches_block>.size),
            record_size: UInt32(MemoryLayout<fathom_switch>.size), start_ns: start)
        let problem = withUnsafeBytes(of: header) { writeAll($0, to: descriptor) }
        guard problem == 0 else {
            Glibc.close(descriptor)
            throw .cannotCreate(path: directory.file(SessionFile.switches.name), errno: problem)
        }
        bytes = UInt64(MemoryLayout<fathom_switches>.size)
    }

    /// Appends a block.
    ///
    /// - Parameters:
    ///   - until: the moment, in ns of CLOCK_MONOTONIC, up to which all switches are in this block or in one before it.
    ///   - lost: switches since the last block that the kernel had no room for.
    package func append(_ switches: UnsafeBufferPointer<fathom_switch>, until: UInt64, lost: UInt64) {
        let records = UnsafeRawBufferPointer(switches)
        let size = UInt64(MemoryLayout<fathom_switches_block>.size + records.count)
        guard error == nil else { return }
        guard bytes + size <= maxSize else {
            error = EFBIG
            return
        }
        let block = fathom_switches_block(
            magic: FATHOM_SWITCHES_BLOCK, count: UInt32(switches.count), until_ns: until, lost: lost,
            sum: fathom_hash(records.baseAddress, records.count))
        var all: [UInt8] = []
        all.reserveCapacity(Int(size))
        withUnsafeBytes(of: block) { all.append(contentsOf: $0) }
        all.append(contentsOf: records)
        let problem = all.withUnsafeBytes { writeAll($0, to: descriptor) }
        if problem == 0 { bytes += size } else { error = problem }
    }

    package func close() { Glibc.close(descriptor) }
}
