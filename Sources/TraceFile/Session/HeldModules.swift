package import CTraceFormat
internal import Glibc
internal import TraceSystem
internal import TraceText

/// Keeps the files of modules open from when they are first seen, because programs are replaced while they run.
///
/// Only one thread at a time may use it.
public final class HeldModules: @unchecked Sendable {
    /// A file as it was when it was opened.
    public struct Held {
        let descriptor: Int32
        private let status: stat
        /// Whether a process had this very file mapped, and not one that was at its path later.
        let isMapped: Bool

        /// A path that leads to the file, whatever is at its own by now.
        public var path: String { "/proc/self/fd/\(descriptor)" }

        init?(_ path: String, isMapped: Bool = false) {
            let descriptor = path.withRawCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
            guard descriptor >= 0 else { return nil }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                return nil
            }
            (self.descriptor, self.status, self.isMapped) = (descriptor, status, isMapped)
        }

        /// Whether it is the module's file for certain, and as it was when that was loaded, not later than at `moment`, in ns of
        /// CLOCK_REALTIME.
        public func isUnchanged(since moment: UInt64) -> Bool {
            var now = stat()
            return fstat(descriptor, &now) == 0 && (isMapped || status.wasChanged(before: moment))
                && now.st_size == status.st_size && now.st_mtim.nanoseconds == status.st_mtim.nanoseconds
        }

        func isFile(_ inode: UInt64) -> Bool { UInt64(status.st_ino) == inode }

        /// Whether a file is this one, and has not been written to.
        func isSame(_ other: stat) -> Bool {
            (status.st_dev, status.st_ino, status.st_size, status.st_mtim.nanoseconds)
                == (other.st_dev, other.st_ino, other.st_size, other.st_mtim.nanoseconds)
        }

        func isSame(_ other: Held) -> Bool { isSame(other.status) }
    }

    private struct Key: Hashable {
        var path: String
        var buildID: [UInt8]
    }

    /// That a process loaded a module once.
    private struct Load: Hashable {
        var process: UInt32
        var address: UInt64
        var ticks: UInt64
    }

    private var files: [Key: Held] = [:]
    private var known: Set<Key> = []
    /// Of modules without a build-id, which may be another one at each load.
    private var loads: Set<Load> = []
    /// When children were forked, in ticks, by process. They tell of the modules that they have from their parents.
    private var forks: [UInt32: UInt64] = [:]
    /// What processes had mapped, by where the mapping begins.
    private var mapped: [Int32: [UInt64: Held]] = [:]
    private var descriptors: [Int32] = []
    /// Of each chunk of metadata that is being written: how much of it has been looked at.
    private var seen: [Int: (process: UInt32, sequence: UInt64, used: UInt32)] = [:]
    private var nextLook: UInt64 = 0
    /// So many files are held at most; half of what a process may have open as a rule.
    private static let limit = 512
    /// Of a module that is loaded more often, it is not known any more whether it is the same.
    private static let mostLoads = 1 << 16
    /// The time between two looks at what processes are writing.
    private static let pause: UInt64 = 2_000_000  // ns

    public init() {}

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Holds the program that is about to be started.
    public func hold(program path: String) {
        guard let resolved = realpath(path, nil) else { return }
        defer { free(resolved) }
        let key = Key(path: String(cString: resolved), buildID: [])
        known.insert(key)
        files[key] = keepOpen(key.path)
    }

    /// Holds the files that a process has mapped to run their code: it runs already, so others may be at their paths.
    public func hold(filesOf pid: Int32) {
        for mapping in Self.mappings(of: pid) where mapped[pid]?[mapping.start] == nil {
            guard descriptors.count < Self.limit else { return }
            mapped[pid, default: [:]][mapping.start] = file(mapping, of: pid)
        }
    }

    /// A mapping of a file that is there to run its code.
    private struct Mapping {
        var range: Substring
        var start: UInt64
        var inode: UInt64
        var path: String
    }

    private static func mappings(of pid: Int32) -> [Mapping] {
        SystemFile.lines(of: "/proc/\(pid)/maps").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, fields[1].contains("x"), let inode = UInt64(fields[4]), inode != 0,
                let start = fields[0].split(separator: "-").first.flatMap({ UInt64($0, radix: 16) })
            else { return nil }
            return Mapping(
                range: fields[0], start: start, inode: inode, path: String(fields[5].drop { $0 == " " }))
        }
    }

    /// The very file of a mapping: where the kernel shows it (proc_pid_map_files(5), proc_pid_exe(5)), or at its path, by its number in
    /// the file system.
    private func file(_ mapping: Mapping, of pid: Int32) -> Held? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = max(readlink("/proc/\(pid)/exe", &target, target.count), 0)
        let isProgram = String(raw: target[..<length]) == mapping.path
        if let file = keepOpen("/proc/\(pid)/map_files/\(mapping.range)", isMapped: true) { return file }
        let file = keepOpen(isProgram ? "/proc/\(pid)/exe" : mapping.path, isMapped: true)
        return isProgram || file?.isFile(mapping.inode) ?? false ? file : nil
    }

    private func keepOpen(_ path: String, isMapped: Bool = false) -> Held? {
        guard descriptors.count < Self.limit, let file = Held(path, isMapped: isMapped) else { return nil }
        descriptors.append(file.descriptor)
        return file
    }

    /// Files that may be the module: what was at its path when it was seen, and when its program was started.
    public func candidates(for module: ModuleFile) -> [Held] {
        let keys = [Key(path: module.path, buildID: module.buildID), Key(path: module.path, buildID: [])]
        return keys.prefix(module.buildID.isEmpty ? 1 : 2).compactMap { files[$0] }
    }

    /// Looks at the modules that processes have told of, which the recorder would see when their buffer is full, or at the end.
    package func look(at buffers: SharedBuffers) {
        let now = SystemClock.monotonic
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
            add(slot.header, payload.start)
        }
    }

    /// Holds the modules that a chunk of metadata tells of.
    package func add(_ header: fathom_chunk, _ items: UnsafeRawPointer) {
        fathom_item.forEach(in: UnsafeRawBufferPointer(start: items, count: Int(header.used))) { kind, item in
            if kind == FATHOM_ITEM_MODULE, let module = Module(item: item) {
                add(module, header)
            } else if kind == FATHOM_ITEM_PROCESS, item.count >= MemoryLayout<fathom_process_item>.size,
                case let process = item.loadUnaligned(as: fathom_process_item.self),
                process.origin == FATHOM_ORIGIN_FORK
            {
                forks[header.process] = process.start_ticks
            }
        }
    }

    private func add(_ module: Module, _ header: fathom_chunk) {
        if module.buildID.isEmpty {
            let load = Load(process: header.process, address: module.low, ticks: module.seenTicks)
            // What is at the path by now is nothing that a child has from its parent.
            guard forks[header.process] != module.seenTicks, loads.insert(load).inserted else { return }
            if loads.count > Self.mostLoads { files[Key(path: module.path, buildID: [])] = nil }
        }
        hold(module, of: Int32(bitPattern: header.pid))
    }

    /// Holds the file of a process's module.
    public func hold(_ module: Module, of pid: Int32) {
        let key = Key(path: module.path, buildID: module.buildID)
        let isFirst = known.insert(key).inserted
        guard isFirst || key.buildID.isEmpty && files[key] != nil else { return }
        let count = descriptors.count
        let own = mapped[pid]?.first { module.low <= $0.key && $0.key < module.high }?.value ?? mappedFile(module, pid)
        guard !isFirst, let held = files[key] else {
            files[key] = own ?? keepOpen(key.path)
            return
        }
        var status = stat()
        guard own.map(held.isSame) ?? (stat(key.path, &status) == 0 && held.isSame(status)) else {
            // Two files were loaded from there, and nothing tells which calls are whose.
            files[key] = nil
            return
        }
        if let own, !held.isMapped {
            files[key] = own
        } else if descriptors.count > count {
            close(descriptors.removeLast())
        }
    }

    /// The very file that a process runs as a module without a build-id, whatever is at its path: while the program told of it, another
    /// may have been put there.
    private func mappedFile(_ module: Module, _ pid: Int32) -> Held? {
        guard module.buildID.isEmpty else { return nil }
        let mapping = Self.mappings(of: pid).first {
            module.low <= $0.start && $0.start < module.high
                && ($0.path == module.path || $0.path == module.path + " (deleted)")
        }
        return mapping.flatMap { file($0, of: pid) }
    }
}

extension stat {
    /// Whether neither the file nor what leads to it was changed after `moment`, in ns of CLOCK_REALTIME.
    func wasChanged(before moment: UInt64) -> Bool {
        st_ctim.nanoseconds + Self.resolution < moment && st_mtim.nanoseconds + Self.resolution < moment
    }

    /// File systems take the time by a clock that goes in steps, in ns: a file may be changed so much later than it says.
    private static let resolution: UInt64 = {
        var step = timespec()
        return clock_getres(CLOCK_REALTIME_COARSE, &step) == 0 ? step.nanoseconds : 10_000_000
    }()
}

extension timespec {
    fileprivate var nanoseconds: UInt64 {
        UInt64(bitPattern: Int64(tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(tv_nsec))
    }
}
