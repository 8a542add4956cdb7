internal import CTraceFormat

/// Saves what a ring holds at the moment as a session of its own, while programs go on writing into it.
package struct SessionSnapshot {
    /// The chunks and bytes that were written, and the calls that they tell of.
    package private(set) var chunks = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var calls: UInt64 = 0

    /// Makes the session.
    ///
    /// - Parameters:
    ///   - ring: the directory of the recording.
    ///   - name: the directory to create. Nothing may have the name.
    ///   - description: what its `session.json` holds, which may depend on what is saved.
    ///   - onCopied: is called once the ring may be written over again.
    /// - Throws: ``SessionFileError`` when it cannot be made, and ``TraceFileError`` when the ring cannot be read. Then
    ///   there is no new session.
    /// - Complexity: O(bytes of the ring), which are in memory meanwhile.
    package init(
        of ring: SessionDirectory, as name: String, description describe: (_ chunks: [Chunk]) -> SessionDescription,
        clock: SessionClock, losses: RecordingLosses, onCopied: () -> Void = {}
    ) throws {
        let damage = DamageLog(), moment = clock.now
        // The buffers are read first: metadata that moves to the log meanwhile is then found twice, and not missed.
        let buffers = try SlotBuffers(
            PlainFile(path: ring.file(SlotBuffers.name)), path: ring.path, damage: damage)
        onCopied()
        let file = try MappedFile(path: ring.file(TraceLog.name))
        let log = try TraceLog(file, path: ring.path, isGrowing: true, damage: damage)
        let description = describe(buffers.chunks)
        // A recorder that is killed meanwhile leaves a directory that no command takes for a session.
        let unfinished = name + ".saving"
        let directory = try SessionDirectory(creating: unfinished)
        defer { directory.close() }
        do {
            try directory.create(SessionFile.description.name, holding: description.json)
            let writer = try TraceLogWriter(
                in: directory, clock: clock, startRealtime: description.startRealtimeNanoseconds ?? 0,
                version: description.formatVersion)
            for chunk in log.chunks + buffers.chunks.sorted(by: { $0.beginTicks < $1.beginTicks }) {
                try write(chunk, writer, directory)
            }
            for process in Self.living(log.chunks + buffers.chunks) {
                try write(process.end(at: moment), writer, directory)
            }
            writer.complete(losses)
            bytes = writer.bytes
            try directory.move(from: unfinished, to: name)
        } catch {
            directory.discard()
            throw error
        }
    }

    /// A process that goes on, whose metadata does not tell of an end.
    private struct Living {
        var index: UInt32
        var pid: UInt32
        /// The number of its next metadata chunk.
        var sequence: UInt64

        /// Says that it went on at this moment, in ticks.
        func end(at moment: UInt64) -> (header: fathom_chunk, item: fathom_end_item) {
            let item = fathom_end_item(FATHOM_END_SAVED, at: moment)
            return (
                fathom_chunk(ofItem: item.item.size, process: index, pid: pid, sequence: sequence, at: moment), item
            )
        }
    }

    private static func living(_ chunks: [Chunk]) -> [Living] {
        var living: [UInt32: (process: Living, end: UInt32?)] = [:]
        let metadata = chunks.filter { $0.kind == .metadata && $0.process != FATHOM_NO_PROCESS }
        for chunk in metadata.sorted(by: { $0.sequence < $1.sequence }) {
            let items = UnsafeRawBufferPointer(rebasing: chunk.payload[(Int(chunk.pathCount) * PathEntry.size)...])
            living[chunk.process] = (
                Living(index: chunk.process, pid: chunk.pid, sequence: chunk.sequence &+ 1),
                fathom_end_item.last(in: items) ?? living[chunk.process]?.end
            )
        }
        return living.values.filter { process, end in
            (end == nil || end == FATHOM_END_FAILED_EXEC)
                && processIsAlive(Int32(bitPattern: process.pid))
        }.map(\.process).sorted { $0.index < $1.index }
    }

    private mutating func write(
        _ end: (header: fathom_chunk, item: fathom_end_item), _ writer: TraceLogWriter, _ directory: SessionDirectory
    ) throws(SessionFileError) {
        let isWritten = withUnsafeBytes(of: end.item) { writer.append(end.header, payload: $0.baseAddress!) }
        guard isWritten else {
            throw .cannotCreate(path: directory.file(SessionFile.trace.name), errno: writer.error ?? 0)
        }
        chunks += 1
    }

    private mutating func write(
        _ chunk: Chunk, _ writer: TraceLogWriter, _ directory: SessionDirectory
    ) throws(SessionFileError) {
        let start = chunk.payload.baseAddress!
        var header = chunk.header.loadUnaligned(as: fathom_chunk.self)
        header.used = UInt32(chunk.payload.count)
        if chunk.kind == .records {
            if header.end_ticks == 0 { header.calls = header.countEnters(start) }
            calls += header.calls + UInt64(header.path_calls)
        }
        guard writer.append(header, payload: start) else {
            throw .cannotCreate(path: directory.file(SessionFile.trace.name), errno: writer.error ?? 0)
        }
        chunks += 1
    }
}
