internal import CTraceFormat
internal import Glibc

/// Keeps the files of modules open from when they are first seen, because programs are replaced while they run.
///
/// Only one thread at a time may use it.
public final class HeldModules: @unchecked Sendable {
    /// A file as it was when it was opened.
    public struct Held {
        let descriptor: Int32
        private let status: stat

        /// A path that leads to the file, whatever is at its own by now.
        public var path: String { "/proc/self/fd/\(descriptor)" }

        init?(_ path: String) {
            let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                return nil
            }
            (self.descriptor, self.status) = (descriptor, status)
        }

        /// Whether it is as it was before `moment`, in ns of CLOCK_REALTIME.
        public func isUnchanged(since moment: UInt64) -> Bool {
            var now = stat()
            return fstat(descriptor, &now) == 0 && status.wasChanged(before: moment)
                && now.st_size == status.st_size && now.st_mtim.nanoseconds == status.st_mtim.nanoseconds
        }
    }

    private struct Key: Hashable {
        var path: String
        var buildID: [UInt8]
    }

    private var files: [Key: Held] = [:]
    private var known: Set<Key> = []
    /// Of each chunk of metadata that is being written: how much of it has been looked at.
    private var seen: [Int: (process: UInt32, sequence: UInt64, used: UInt32)] = [:]
    private var nextLook: UInt64 = 0
    /// So many files are held at most; half of what a process may have open as a rule.
    private static let limit = 512
    /// The time between two looks at what processes are writing.
    private static let pause: UInt64 = 2_000_000  // ns

    public init() {}

    deinit { for file in files.values { close(file.descriptor) } }

    /// Holds the program that is about to be started.
    public func hold(program path: String) {
        guard let resolved = realpath(path, nil) else { return }
        defer { free(resolved) }
        hold(Key(path: String(cString: resolved), buildID: []))
    }

    /// Files that may be the module: what was at its path when it was seen, and when its program was started.
    public func candidates(for module: ModuleFile) -> [Held] {
        let keys = [Key(path: module.path, buildID: module.buildID), Key(path: module.path, buildID: [])]
        return keys.prefix(module.buildID.isEmpty ? 1 : 2).compactMap { files[$0] }
    }

    /// Looks at the modules that processes have told of, which the recorder would see when their buffer is full, or at the end.
    package func look(at buffers: SharedBuffers) {
        let now = SessionClock.nanoseconds(CLOCK_MONOTONIC)
        guard now >= nextLook else { return }
        nextLook = now + Self.pause
        for slot in buffers.slots(in: FATHOM_SLOT_OWNED)
        where slot.header.kind == UInt8(FATHOM_CHUNK_METADATA) && slot.header.magic == FATHOM_CHUNK_MAGIC {
            var slot = slot
            slot.header.used = min(fathom_chunk_written(&slot.header), UInt32(buffers.slotSize))
            let state = (slot.header.process, slot.header.sequence, slot.header.used)
            if let last = seen[slot.index], last == state { continue }
            seen[slot.index] = state
            guard let payload = buffers.payload(of: slot) else { continue }
            add(UnsafeRawBufferPointer(start: payload.start, count: Int(slot.header.used)))
        }
    }

    /// Holds the modules that the items of a chunk tell of.
    package func add(_ items: UnsafeRawBufferPointer) {
        var rest = items
        while rest.count >= MemoryLayout<fathom_item>.size {
            let item = rest.loadUnaligned(as: fathom_item.self), size = Int(item.size)
            guard size >= MemoryLayout<fathom_item>.size, size % 8 == 0, size <= rest.count else { return }
            if UInt32(item.kind) == FATHOM_ITEM_MODULE, let module = Module(item: .init(rebasing: rest[..<size])) {
                hold(Key(path: module.path, buildID: module.buildID))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        }
    }

    private func hold(_ key: Key) {
        guard known.insert(key).inserted, files.count < Self.limit else { return }
        files[key] = Held(key.path)
    }
}

extension stat {
    /// Whether neither the file nor what leads to it was changed after `moment`, in ns of CLOCK_REALTIME.
    func wasChanged(before moment: UInt64) -> Bool {
        st_ctim.nanoseconds < moment && st_mtim.nanoseconds < moment
    }
}

extension timespec {
    fileprivate var nanoseconds: UInt64 {
        UInt64(bitPattern: Int64(tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(tv_nsec))
    }
}
