internal import CTraceFormat
internal import Glibc

/// The file `switches` of a session: when each thread gave up a CPU, and when it got one again.
///
/// It is read when a thread is first asked for.
public final class SwitchLog: @unchecked Sendable {
    /// A stretch of time in which a thread had no CPU, in ns since the session's start.
    struct Stretch {
        var begin: UInt64
        var end: UInt64
        /// Whether the thread would have gone on if it had been given a CPU.
        var wantsCPU: Bool
    }

    private let file: MappedFile
    private let damage: DamageLog
    private let startNanoseconds: UInt64
    /// Whether the recorder still writes it: then its end may be half a block.
    private let isGrowing: Bool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var isRead = false
    private var records: [UInt32: [(time: UInt64, flags: UInt16, cpu: UInt16)]] = [:]
    private var lostSwitches: UInt64 = 0
    private var end: UInt64 = 0

    /// - Parameter start: the session's start, in ns of CLOCK_MONOTONIC.
    init(_ file: MappedFile, start: UInt64, isGrowing: Bool, damage: DamageLog) {
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

    /// Switches that the kernel had no room for.
    public var lost: UInt64 { locked { lostSwitches } }
    /// The moment up to which switches are known, in ns since the session's start.
    public var knownUntil: UInt64 { locked { end } }

    /// The moments at which the thread `tid` left a CPU or got one, in the order of time.
    ///
    /// - Complexity: O(switches of the thread); the first call is O(switches).
    public func switches(of tid: UInt32) -> [ThreadSwitch] {
        locked { records[tid] ?? [] }.map { record in
            ThreadSwitch(
                time: record.time, cpu: record.cpu, isOut: record.flags & UInt16(FATHOM_SWITCH_OUT) != 0,
                wantsCPU: record.flags & UInt16(FATHOM_SWITCH_PREEMPTED) != 0)
        }
    }

    /// The stretches in which the thread `tid` had no CPU, in the order of time. A stretch that has not ended by the last moment
    /// known ends there.
    ///
    /// - Complexity: O(switches of the thread); the first call is O(switches).
    func stretches(of tid: UInt32) -> [Stretch] {
        let (switches, end) = locked { (records[tid] ?? [], self.end) }
        var result: [Stretch] = []
        var out: (time: UInt64, wantsCPU: Bool)?
        for record in switches {
            if record.flags & UInt16(FATHOM_SWITCH_OUT) != 0 {
                // Of two in a row, a switch between them is lost, so the first one's end is not known.
                out = (record.time, record.flags & UInt16(FATHOM_SWITCH_PREEMPTED) != 0)
            } else if let begin = out {
                if record.time > begin.time {
                    result.append(Stretch(begin: begin.time, end: record.time, wantsCPU: begin.wantsCPU))
                }
                out = nil
            }
        }
        if let out, end > out.time { result.append(Stretch(begin: out.time, end: end, wantsCPU: out.wantsCPU)) }
        return result
    }

    /// When the thread `tid` had no CPU, by the clock that all threads share: in ns since the session's start.
    public func offCPU(of tid: UInt32) -> OffCPU { OffCPU(stretches(of: tid)) { $0 } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if !isRead { read() }
        return body()
    }

    private func read() {
        isRead = true
        let name = SessionFile.switches.name
        let bytes = file.bytes
        let headerSize = MemoryLayout<fathom_switches>.size, blockSize = MemoryLayout<fathom_switches_block>.size
        let recordSize = MemoryLayout<fathom_switch>.size
        guard bytes.count >= headerSize, case let header = bytes.loadUnaligned(as: fathom_switches.self),
            header.magic == FATHOM_SWITCHES_MAGIC, header.version == FATHOM_SWITCHES_VERSION,
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
                case let block = bytes.loadUnaligned(fromByteOffset: offset, as: fathom_switches_block.self),
                block.magic == FATHOM_SWITCHES_BLOCK,
                case let size = Int(block.count) * recordSize, size <= bytes.count - offset - blockSize,
                fathom_hash(bytes.baseAddress! + offset + blockSize, size) == block.sum
            else {
                let rest = UInt64(bytes.count - offset)
                if isGrowing { break }
                damage.report(Damage(file: name, offset: UInt64(offset), lostBytes: rest, kind: .switches))
                break
            }
            offset += blockSize
            for index in 0..<Int(block.count) {
                let record = bytes.loadUnaligned(fromByteOffset: offset + index * recordSize, as: fathom_switch.self)
                records[record.tid, default: []].append((moment(record.ns), record.flags, record.cpu))
            }
            offset += size
            lostSwitches = lostSwitches.addingClamped(block.lost)
            end = max(end, moment(block.until_ns))
        }
        // Each CPU has a ring of its own, so the switches of a thread that moved are not in order yet.
        for (tid, switches) in records where !zip(switches, switches.dropFirst()).allSatisfy({ $0.time <= $1.time }) {
            records[tid] = switches.enumerated().sorted {
                ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
            }.map(\.element)
        }
    }
}
