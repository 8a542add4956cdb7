public import CTraceFormat

/// What a record tells of a moment, beside the calls that begin and end.
///
/// A new kind of record is a case here, read by `init` and written by `put`. Sinks pass over what they do not ask for.
@frozen
public enum Told: BitwiseCopyable, Sendable {
    /// A moment has a name, which is an id among the process's names.
    case mark(name: UInt32)
    /// The counter of this name has a value.
    case counter(name: UInt32, value: Double)
    /// The arguments of the innermost call, which has just begun.
    case arguments(RecordedArguments)
    /// What the innermost call, which ends next, returns.
    case result(RecordedArguments)
    /// The innermost call, which has just begun, waits.
    case wait(RecordedWait)
    /// The thread is about to end a wait of others.
    case wake(RecordedWait)
    /// For so many ns before this moment, the thread had no CPU, although no call was known that waits.
    case away(nanoseconds: UInt64)
    /// Memory was allocated or freed, or a page of it was brought.
    case memory(RecordedBlock)

    /// Whether it is of an open call, so that it says nothing where none is known to be open.
    @inlinable public var isOfCall: Bool {
        switch self {
        case .arguments, .result, .wait: true
        default: false
        }
    }

    /// What is shown by its name among the calls, with the value that the name has from then on, if it is one of those.
    @inlinable public var named: (name: UInt32, value: Double?)? {
        switch self {
        case .mark(let name): (name, nil)
        case .counter(let name, let value): (name, value)
        default: nil
        }
    }

    /// What the record `number` with a payload of `size` bytes tells; nil if it is of a kind that is not known.
    @inlinable @inline(__always)
    init?(_ number: UInt32, _ payload: UnsafeRawPointer, size: Int) {
        switch number {
        case FATHOM_MARK where size >= MemoryLayout<UInt32>.size:
            self = .mark(name: payload.loadUnaligned(as: UInt32.self))
        case FATHOM_COUNTER where size >= MemoryLayout<fathom_count>.size:
            let count = payload.loadUnaligned(as: fathom_count.self)
            let bits = UInt64(count.bits.0) | UInt64(count.bits.1) << 32
            self = .counter(name: count.name, value: Double(bitPattern: bits))
        case FATHOM_ARGUMENTS: self = .arguments(RecordedArguments(start: payload, count: size))
        case FATHOM_RESULT: self = .result(RecordedArguments(start: payload, count: size))
        case FATHOM_WAIT where size >= MemoryLayout<fathom_wait>.size:
            var wait = RecordedWait(payload.loadUnaligned(as: fathom_wait.self))
            if size >= MemoryLayout<fathom_named_wait>.size {
                wait.name = payload.loadUnaligned(as: fathom_named_wait.self).name
            }
            self = .wait(wait)
        case FATHOM_WAKE where size >= MemoryLayout<fathom_wait>.size:
            self = .wake(RecordedWait(payload.loadUnaligned(as: fathom_wait.self)))
        case FATHOM_AWAY where size >= MemoryLayout<UInt64>.size:
            self = .away(nanoseconds: payload.loadUnaligned(as: UInt64.self))
        default:
            guard size >= MemoryLayout<fathom_block>.size, let kind = RecordedBlock.Kind(record: number) else {
                return nil
            }
            let block = payload.loadUnaligned(as: fathom_block.self)
            self = .memory(RecordedBlock(kind: kind, address: block.address, size: block.size))
        }
    }

    /// Writes the record at `place`, where there is room for it, and returns the place behind it. What is told of a thread's own
    /// waits, arguments and results is not written again.
    func put(_ place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        func put<Body: BitwiseCopyable>(_ number: UInt32, _ body: Body) -> UnsafeMutableRawPointer {
            withUnsafeBytes(of: body) { fathom_put_told(place, number, $0.baseAddress, UInt16($0.count)) }
        }
        return switch self {
        case .mark(let name): put(FATHOM_MARK, name)
        case .counter(let name, let value): put(FATHOM_COUNTER, fathom_counted(name, value.bitPattern))
        case .memory(let block): put(block.number, fathom_block(address: block.address, size: block.size))
        case .arguments, .result, .wait, .wake, .away: place
        }
    }
}
