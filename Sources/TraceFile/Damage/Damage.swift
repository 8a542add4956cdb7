internal import Glibc

/// One place of a session that is not as it was written, and what was lost because of it.
public struct Damage: Equatable, Sendable {
    /// What is wrong.
    public enum Kind: Equatable, Sendable {
        case fileHeader
        case chunkHeader
        case truncated
        /// The log is shorter than it was when the recording ended.
        case cutShort
        /// The loss counts, which the recorder writes into the file header at the end, are damaged.
        case lossCounts
        /// The program had written over this many chunks before they could be saved.
        case spoiledChunks(UInt64)
        /// The program had written over the head of the buffers.
        case spoiledHead
        case payloadSum
        case malformedRecord
        case malformedMetadata
        case missingChunks(process: UInt32, thread: UInt32, first: UInt64, count: UInt64)
        case depthMismatch(expected: UInt32, found: UInt32)
        case exitWithoutCall
        case unwindTooDeep
        case sessionDescription
        case descriptionSum
        case unreadableFile(reason: String)
        /// A block of context switches is not as it was written.
        case switches
        /// A block of the file of wakings is not as it was written.
        case wakings
        /// A block of page faults is not as it was written.
        case faults
        /// The names of a module are not as they were written.
        case names
        /// A block of what the kernel told of a start is not as it was written.
        case startup
        /// The source files are not as they were written.
        case sources
        /// A section of a packed file is not as it was written.
        case section
        /// A packed file has no index, with which it ends.
        case noIndex
    }

    /// The file's name inside the session directory.
    public var file: String
    /// Where the damage begins, in bytes from the start of the file.
    public var offset: UInt64
    /// Bytes that could not be used.
    public var lostBytes: UInt64
    public var kind: Kind

    public init(file: String, offset: UInt64, lostBytes: UInt64, kind: Kind) {
        self.file = file
        self.offset = offset
        self.lostBytes = lostBytes
        self.kind = kind
    }
}

extension Damage: CustomStringConvertible {
    /// One line for people: file, offset, what is wrong, what was lost.
    public var description: String {
        let what =
            switch kind {
            case .fileHeader: "damaged file header"
            case .chunkHeader: "damaged chunk header"
            case .truncated: "the file ends inside a chunk"
            case .cutShort: "the file is shorter than it was when the recording ended"
            case .lossCounts: "damaged counts of what was not recorded"
            case .spoiledHead: "the program has written over the recording's memory; more may be missing than is said"
            case .spoiledChunks(let count):
                (count == 1 ? "1 chunk was" : "\(count) chunks were")
                    + " written over by the program before it was saved, and is left out"
            case .payloadSum: "checksum mismatch, chunk left out"
            case .malformedRecord: "malformed record, rest of the chunk left out"
            case .malformedMetadata: "malformed metadata"
            case .missingChunks(let process, let thread, let first, let count):
                (thread == 0 ? "metadata of process \(process), " : "process \(process), thread \(thread), ")
                    + (count == 1 ? "chunk \(first) is lost" : "chunks \(first) to \(first &+ count &- 1) are lost")
            case .depthMismatch(let expected, let found):
                "a chunk begins with \(found) open calls, not with \(expected)"
            case .exitWithoutCall: "an exit without an open call"
            case .unwindTooDeep: "more calls unwound than were open"
            case .unreadableFile(let reason): "left out: \(reason)"
            case .descriptionSum: "changed since it was written: what it says of the recording may be wrong"
            case .startup: "damaged block of what the kernel told of the start; later ones are left out"
            case .switches: "damaged block of context switches; later ones are left out"
            case .wakings: "damaged block of wakings; later ones are left out"
            case .faults: "damaged block of page faults; later ones are left out"
            case .names: "damaged names; those of some modules are left out"
            case .sources: "damaged source files, left out"
            case .section: "damaged section of a packed file, left out"
            case .noIndex: "the packed file was cut off, or its index is damaged; what can be found without is read"
            case .sessionDescription: "not readable; the recording's own description is left out"
            }
        let lost = lostBytes == 0 ? "" : " (bytes \(offset)..<\(offset &+ lostBytes) lost)"
        return "\(file) at offset \(offset): \(what)\(lost)"
    }
}
