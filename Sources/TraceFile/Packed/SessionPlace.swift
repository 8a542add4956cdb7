internal import CTraceFormat
internal import Glibc

/// Where the files of a session are: in a directory, or in a packed file.
final class SessionPlace {
    let path: String
    private let packed: PackedFile?
    private let damage: DamageLog

    /// A log, and where its chunks lie.
    struct Log {
        var chunks: TraceLog
        var memory: LogMemory
        /// The file header, as it is in a plain log.
        var header: [UInt8]
        /// Bytes that it takes.
        var size: Int
        /// Bytes that it takes where it is not packed.
        var plainSize: Int
    }

    /// - Throws: ``TraceFileError`` when a packed file cannot be read at all.
    init(_ path: String, _ damage: DamageLog) throws(TraceFileError) {
        self.path = path
        self.damage = damage
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            packed = nil
            return
        }
        packed = try PackedFile(
            PlainFile(path: path), path: path, name: String(path.split(separator: "/").last ?? ""), isSession: true,
            recorder: .hasEnded, damage: damage)
    }

    var isPacked: Bool { packed != nil }

    /// What stands between the place and a file's name, where people read both.
    var separator: String { isPacked ? ": " : "/" }

    /// A file of the session. It is nil when there is no such file, or when it cannot be read; in that case the reason is given, too.
    func file(_ file: SessionFile) -> (PlainFile?, TraceFileError?) {
        if let packed { return (packed.member(file), nil) }
        let path = "\(path)/\(file.name)"
        guard access(path, F_OK) == 0 else { return (nil, nil) }
        do throws(TraceFileError) { return (try PlainFile(path: path), nil) } catch { return (nil, error) }
    }

    /// The same, mapped.
    func mapped(_ file: SessionFile) -> (MappedFile?, TraceFileError?) {
        let (plain, problem) = self.file(file)
        guard let plain else { return (nil, problem) }
        do throws(TraceFileError) {
            return (try MappedFile(plain, path: path + separator + file.name), nil)
        } catch { return (nil, error) }
    }

    /// The log, with the reason when it is there and cannot be read.
    ///
    /// - Parameter isGrowing: whether the recorder may be in the middle of writing it.
    /// - Throws: ``TraceFileError/unsupportedVersion(path:found:supported:)``.
    func log(isGrowing: Bool) throws(TraceFileError) -> (Log?, TraceFileError?) {
        if let packed {
            return packed.logHeader.isEmpty && packed.chunks.isEmpty ? (nil, nil) : (try log(packed), nil)
        }
        let (plain, problem) = file(.trace)
        guard let plain else { return (nil, problem) }
        // A recorder that was killed has left the buffers, and in these what it was writing.
        let hasBuffers = access("\(path)/\(SessionFile.buffers.name)", F_OK) == 0
        if PackedFile.isOne(plain) {
            let packed = try PackedFile(
                plain, path: path, name: SessionFile.trace.name, isSession: false,
                recorder: isGrowing ? .isWriting : hasBuffers ? .wasKilled : .hasEnded, damage: damage)
            return (try log(packed), nil)
        }
        let mapped: MappedFile
        do throws(TraceFileError) { mapped = try MappedFile(plain, path: path) } catch { return (nil, error) }
        let chunks = try TraceLog(mapped, path: path, isGrowing: isGrowing || hasBuffers, damage: damage)
        let header = Array(mapped.bytes.prefix(chunks.start))
        return (
            Log(chunks: chunks, memory: .mapped(mapped), header: header, size: mapped.size, plainSize: mapped.size), nil
        )
    }

    private func log(_ packed: PackedFile) throws(TraceFileError) -> Log {
        let memory = try PackedLog(packed, path: path)
        let chunks = try TraceLog(packed, memory, path: path, damage: damage)
        return Log(
            chunks: chunks, memory: .packed(memory), header: packed.logHeader, size: packed.file.size,
            plainSize: chunks.size)
    }
}
