internal import CTraceFormat
internal import Glibc

/// A file of a session that has what the kernel told of threads.
///
/// It is read when something is first asked of it.
final class EventLog: @unchecked Sendable {
    /// What happened to a thread, in ns since the session's start.
    struct Event {
        var time: UInt64
        var flags: UInt16
        var cpu: UInt16

        /// Of a waking: the thread that woke this one; 0: an interrupt did.
        var waker: UInt32 { UInt32(cpu) | UInt32(flags) << 16 }

        func has(_ flag: UInt32) -> Bool { flags & UInt16(flag) != 0 }
    }

    private let kind: KernelEvents
    private let file: MappedFile
    private let damage: DamageLog
    private let startNanoseconds: UInt64
    /// Whether the recorder still writes it: then its end may be half a block.
    private let isGrowing: Bool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var isRead = false
    private var events: [UInt32: [Event]] = [:]
    private var toldEvents: UInt64 = 0
    private var lostEvents: UInt64 = 0
    private var end: UInt64 = 0

    /// - Parameter start: the session's start, in ns of CLOCK_MONOTONIC.
    init(_ kind: KernelEvents, _ file: MappedFile, start: UInt64, isGrowing: Bool, damage: DamageLog) {
        self.kind = kind
        self.isGrowing = isGrowing
        self.file = file
        self.damage = damage
        startNanoseconds = start
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Events of all threads.
    var count: UInt64 { locked { toldEvents } }
    /// Events that the kernel had no room for.
    var lost: UInt64 { locked { lostEvents } }
    /// The moment up to which events are known, in ns since the session's start.
    var knownUntil: UInt64 { locked { end } }

    /// What happened to the thread `tid`, in the order of time.
    ///
    /// - Complexity: O(1); the first call is O(events).
    func events(of tid: UInt32) -> [Event] { locked { events[tid] ?? [] } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if !isRead { read() }
        return body()
    }

    private func read() {
        isRead = true
        let name = kind.file.name
        let bytes = file.bytes
        let headerSize = MemoryLayout<fathom_events>.size, blockSize = MemoryLayout<fathom_events_block>.size
        let recordSize = MemoryLayout<fathom_event>.size
        guard bytes.count >= headerSize, case let header = bytes.loadUnaligned(as: fathom_events.self),
            header.magic == kind.magic, header.version == FATHOM_EVENTS_VERSION,
            Int(header.header_size) == headerSize, Int(header.block_size) == blockSize,
            Int(header.record_size) == recordSize
        else {
            damage.report(
                Damage(file: name, offset: 0, lostBytes: UInt64(bytes.count), kind: .fileHeader))
            return
        }
        func moment(_ nanoseconds: UInt64) -> UInt64 {
            nanoseconds > startNanoseconds ? nanoseconds &- startNanoseconds : 0
        }
        var offset = headerSize
        while offset < bytes.count {
            guard offset + blockSize <= bytes.count,
                case let block = bytes.loadUnaligned(fromByteOffset: offset, as: fathom_events_block.self),
                block.magic == FATHOM_EVENTS_BLOCK,
                case let size = Int(block.count) * recordSize, size <= bytes.count - offset - blockSize,
                fathom_hash(bytes.baseAddress! + offset + blockSize, size) == block.sum
            else {
                let rest = UInt64(bytes.count - offset)
                if isGrowing { break }
                damage.report(Damage(file: name, offset: UInt64(offset), lostBytes: rest, kind: kind.damage))
                break
            }
            offset += blockSize
            for index in 0..<Int(block.count) {
                let record = bytes.loadUnaligned(fromByteOffset: offset + index * recordSize, as: fathom_event.self)
                events[record.tid, default: []].append(
                    Event(time: moment(record.ns), flags: record.flags, cpu: record.cpu))
            }
            offset += size
            toldEvents += UInt64(block.count)
            lostEvents = lostEvents.addingClamped(block.lost)
            end = max(end, moment(block.until_ns))
        }
        // Each CPU has a ring of its own, so the events of a thread that moved are not in order yet.
        for (tid, known) in events where !zip(known, known.dropFirst()).allSatisfy({ $0.time <= $1.time }) {
            events[tid] = known.enumerated().sorted {
                ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
            }.map(\.element)
        }
    }
}
