internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// When the threads of a finished recording had no CPU, kept beside it as soon as a reader has found it out for all of them.
enum OffCPUFile {
    /// In bytes; smaller logs are as quickly read.
    private static let leastSize = 4 << 20

    /// From now on, what is found out is kept, and what is kept is not looked for.
    static func use(for session: Session) {
        guard session.plainLogSize >= leastSize, PieceFile.isUseful(for: session) else { return }
        let opened = Opened(session: session)
        session.offCPUMemory.use(
            OffCPUMemory.Keeper(
                read: { PieceFile.kept(.offCPU, of: opened.session).flatMap { decode($0.end) } ?? [:] },
                keep: { known in
                    let threads = opened.session.processes.flatMap(\.threads).filter { !$0.keepsPaths }
                    guard threads.allSatisfy({ known[$0.key] != nil }) else { return }
                    PieceFile.new(.offCPU, of: opened.session)?.keep(encode(known))
                }))
    }

    /// The session is there for as long as somebody uses its threads.
    private struct Opened: @unchecked Sendable { unowned let session: Session }

    /// A checksum, and then, in LEB128: how many threads there are; of each its process, number and stretches; of each of these
    /// when it begins after the one before, and twice its length, and 1 if it wanted a CPU.
    static func encode(_ known: OffCPUMemory.Known) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(known.count))
        for (key, stretches) in known.sorted(by: { ($0.key.process, $0.key.serial) < ($1.key.process, $1.key.serial) })
        {
            for number in [key.process, key.serial, UInt32(stretches.count)] { bytes.append(leb128: UInt64(number)) }
            var last: UInt64 = 0
            for stretch in stretches {
                bytes.append(zigzag: Int64(bitPattern: stretch.begin &- last))
                bytes.append(leb128: (stretch.end &- stretch.begin) << 1 | (stretch.wantsCPU ? 1 : 0))
                last = stretch.begin
            }
        }
        return KeptChecksum.sealed(bytes)
    }

    /// - Returns: nil where it is damaged.
    static func decode(_ encoded: [UInt8]) -> OffCPUMemory.Known? {
        guard let bytes = KeptChecksum.opened(encoded) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes), known: OffCPUMemory.Known = [:]
            for _ in 0..<reader.takeCount() {
                let key = TracedThread.Key(
                    process: UInt32(truncatingIfNeeded: reader.take()),
                    serial: UInt32(truncatingIfNeeded: reader.take()))
                var last: UInt64 = 0
                known[key] = (0..<reader.takeCount()).map { _ in
                    let begin = last &+ UInt64(bitPattern: reader.takeZigzag()), length = reader.take()
                    last = begin
                    return SwitchLog.Stretch(begin: begin, end: begin &+ length >> 1, wantsCPU: length & 1 != 0)
                }
            }
            return reader.isAtEnd ? known : nil
        }
    }
}
