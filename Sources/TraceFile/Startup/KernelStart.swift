internal import CTraceFormat

/// What the kernel told of the program's start: when it began to run, what it mapped, and where it had no page yet. Times are in
/// ns of CLOCK_MONOTONIC.
public struct KernelStart: Sendable {
    /// A part of a file, or of memory without one, that was mapped, or whose protection was changed.
    public struct Mapping: Sendable {
        public var time: UInt64
        public var address: UInt64
        public var size: UInt64
        public var isWritable: Bool
        public var isExecutable: Bool
        /// The file; for other memory what the kernel calls it: `//anon`, `[stack]`.
        public var path: String

        public var range: Range<UInt64> { address..<address.addingClamped(size) }
        public var isFile: Bool { path.hasPrefix("/") && !path.hasPrefix("//") }

        public init(
            time: UInt64, address: UInt64, size: UInt64, isWritable: Bool = false, isExecutable: Bool = false,
            path: String
        ) {
            self.time = time
            self.address = address
            self.size = size
            self.isWritable = isWritable
            self.isExecutable = isExecutable
            self.path = path
        }
    }

    /// A page fault of the program's own code.
    public struct Fault: Sendable {
        public var time: UInt64
        public var address: UInt64
        public var instruction: UInt64
        public var tid: UInt32
        /// Whether the page had to be read.
        public var isMajor: Bool

        public init(time: UInt64, address: UInt64, instruction: UInt64, tid: UInt32, isMajor: Bool) {
            self.time = time
            self.address = address
            self.instruction = instruction
            self.tid = tid
            self.isMajor = isMajor
        }
    }

    public var pid: UInt32
    /// Right before the program was started.
    public var begin: UInt64
    /// When images began, in the order of time.
    public var execs: [UInt64] = []
    /// When main was called first; nil where the kernel was not asked.
    public var main: UInt64?
    public var mappings: [Mapping] = []
    public var faults: [Fault] = []
    /// Why the kernel tells nothing.
    public var refusal: String?
    /// Whether more happened than was kept.
    public var isFull = false
    /// Events that the kernel had no room for.
    public var lost: UInt64 = 0

    public init(pid: UInt32, begin: UInt64) {
        self.pid = pid
        self.begin = begin
    }
}

extension KernelStart {
    /// Reads the file; nil when it does not begin as one.
    ///
    /// - Complexity: O(events log events): each CPU has told of its own.
    init?(_ file: MappedFile, isGrowing: Bool, damage: DamageLog) {
        let bytes = file.bytes, name = SessionFile.startup.name
        let headerSize = MemoryLayout<fathom_startup>.size, blockSize = MemoryLayout<fathom_startup_block>.size
        guard bytes.count >= headerSize, case let header = bytes.loadUnaligned(as: fathom_startup.self),
            header.magic == FATHOM_STARTUP_MAGIC, header.version == FATHOM_STARTUP_VERSION,
            Int(header.header_size) == headerSize, Int(header.block_size) == blockSize,
            Int(header.event_size) == MemoryLayout<fathom_startup_event>.size
        else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(bytes.count), kind: .fileHeader))
            return nil
        }
        self.init(pid: header.pid, begin: header.begin_ns)
        var offset = headerSize
        while offset < bytes.count {
            guard offset + blockSize <= bytes.count,
                case let block = bytes.loadUnaligned(fromByteOffset: offset, as: fathom_startup_block.self),
                block.magic == FATHOM_STARTUP_BLOCK, case let size = Int(block.size),
                size <= bytes.count - offset - blockSize,
                fathom_hash(bytes.baseAddress! + offset + blockSize, size) == block.sum
            else {
                if isGrowing { break }
                let rest = UInt64(bytes.count - offset)
                damage.report(Damage(file: name, offset: UInt64(offset), lostBytes: rest, kind: .startup))
                break
            }
            offset += blockSize
            add(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + size]))
            lost = lost.addingClamped(block.lost)
            offset += size
        }
        execs.sort()
        mappings.sort { $0.time < $1.time }
        faults.sort { $0.time < $1.time }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let eventSize = MemoryLayout<fathom_startup_event>.size
        var offset = 0
        while offset + eventSize <= bytes.count {
            let event = bytes.loadUnaligned(fromByteOffset: offset, as: fathom_startup_event.self)
            offset += eventSize
            let nameSize = Int(event.name_size)
            guard nameSize <= bytes.count - offset else { return }
            let name = String(decoding: bytes[offset..<offset + nameSize], as: UTF8.self)
            offset += (nameSize + 7) & ~7
            switch UInt32(event.kind) {
            case FATHOM_EVENT_EXEC: execs.append(event.ns)
            case FATHOM_EVENT_MAP:
                mappings.append(
                    Mapping(
                        time: event.ns, address: event.address, size: event.size,
                        isWritable: event.protection & 2 != 0, isExecutable: event.protection & 4 != 0, path: name))
            case FATHOM_EVENT_MINOR, FATHOM_EVENT_MAJOR:
                faults.append(
                    Fault(
                        time: event.ns, address: event.address, instruction: event.size, tid: event.tid,
                        isMajor: UInt32(event.kind) == FATHOM_EVENT_MAJOR))
            case FATHOM_EVENT_MAIN: main = min(main ?? .max, event.ns)
            case FATHOM_EVENT_REFUSED: refusal = name
            case FATHOM_EVENT_FULL: isFull = true
            default: break
            }
        }
    }
}
