public import CTraceFormat

/// Reads the records of one chunk in order.
///
/// Every load is checked against the chunk's end and no arithmetic traps, so any bytes may be read.
///
/// - Complexity: O(1) per record, a few nanoseconds; allocates nothing.
@frozen
public struct RecordCursor {
    @usableFromInline var position: UnsafeRawPointer
    @usableFromInline var end: UnsafeRawPointer
    @usableFromInline var base: UInt64
    @usableFromInline var site: UInt64
    @usableFromInline var pendingSite: UInt64
    @usableFromInline var siteField: UInt32

    /// Time of the record last read, in ticks.
    public var ticks: UInt64
    /// Address of the function entered.
    public var function: UInt64
    public var count: UInt32
    public var lane: UInt32
    public var droppedTicks: UInt64
    public var piece = TaskPiece()
    public var told = Told.mark(name: 0)

    public init(_ records: UnsafeRawBufferPointer, ticks: UInt64, functionBase: UInt32) {
        position = records.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
        end = position + records.count
        base = UInt64(functionBase) << 32
        self.ticks = ticks
        site = 0
        pendingSite = 0
        siteField = 0
        function = 0
        count = 0
        lane = 0
        droppedTicks = 0
    }

    /// Goes on with records that follow those read so far.
    package mutating func go(on records: UnsafeRawBufferPointer) {
        position = records.baseAddress ?? position
        end = position + records.count
    }

    /// Bytes not read yet.
    @inlinable
    public var remaining: Int { end - position }

    /// Call site of the call just entered, given its caller's function and call site.
    @inlinable @inline(__always)
    public func callSite(callerFunction: UInt64, callerSite: UInt64) -> UInt64 {
        if site != 0 { return site }
        return siteField == FATHOM_SITE_SAME ? callerSite : callerFunction &+ UInt64(siteField)
    }

    /// Reads the next record. Time, base and site records are folded into the record that follows them.
    @inlinable @inline(__always)
    public mutating func next() -> Record {
        while true {
            let left = end - position
            guard left >= 2 else { return left == 0 ? .end : .malformed }
            let unit = UInt32(position.loadUnaligned(as: UInt16.self))
            if unit & 1 != 0 {
                guard left >= Int(FATHOM_ENTER_SIZE) else { return .malformed }
                let word = position.loadUnaligned(as: UInt64.self)
                position += Int(FATHOM_ENTER_SIZE)
                ticks = ticks &+ UInt64(unit &>> 1)
                siteField = UInt32(truncatingIfNeeded: word &>> 16) & 0xffff
                function = base | word &>> 32
                site = pendingSite
                pendingSite = 0
                return .enter
            }
            let value = unit &>> 1
            if value < FATHOM_SPECIAL {
                position += Int(FATHOM_EXIT_SIZE)
                ticks = ticks &+ UInt64(value)
                return .exit
            }
            let record = special(value, left)
            if record != .end { return record }
        }
    }

    /// Reads a special record; `.end` when it only changed the state for the records that follow.
    @inlinable @inline(never)
    mutating func special(_ value: UInt32, _ left: Int) -> Record {
        let body = position + 2
        switch value {
        case FATHOM_TIME:
            guard left >= Int(FATHOM_SPECIAL_SIZE_TIME) else { return .malformed }
            let low = UInt64(body.loadUnaligned(as: UInt32.self))
            ticks = ticks &+ (low | UInt64((body + 4).loadUnaligned(as: UInt16.self)) &<< 32)
            position += Int(FATHOM_SPECIAL_SIZE_TIME)
            return .end
        case FATHOM_BASE:
            guard left >= Int(FATHOM_SPECIAL_SIZE_BASE) else { return .malformed }
            base = UInt64(body.loadUnaligned(as: UInt32.self)) &<< 32
            position += Int(FATHOM_SPECIAL_SIZE_BASE)
            return .end
        case FATHOM_SITE:
            guard left >= Int(FATHOM_SPECIAL_SIZE_SITE) else { return .malformed }
            pendingSite = body.loadUnaligned(as: UInt64.self)
            position += Int(FATHOM_SPECIAL_SIZE_SITE)
            return .end
        case FATHOM_UNWIND:
            guard left >= Int(FATHOM_SPECIAL_SIZE_UNWIND) else { return .malformed }
            count = body.loadUnaligned(as: UInt32.self)
            position += Int(FATHOM_SPECIAL_SIZE_UNWIND)
            return .unwind
        case FATHOM_LANE:
            guard left >= Int(FATHOM_SPECIAL_SIZE_LANE) else { return .malformed }
            lane = body.loadUnaligned(as: UInt32.self)
            count = (body + 4).loadUnaligned(as: UInt32.self)
            position += Int(FATHOM_SPECIAL_SIZE_LANE)
            return .lane
        case FATHOM_DROPPED:
            guard left >= Int(FATHOM_SPECIAL_SIZE_DROPPED) else { return .malformed }
            count = body.loadUnaligned(as: UInt32.self)
            droppedTicks = (body + 4).loadUnaligned(as: UInt64.self)
            position += Int(FATHOM_SPECIAL_SIZE_DROPPED)
            return .dropped
        case FATHOM_MARK, FATHOM_COUNTER:
            let size = Int(value == FATHOM_MARK ? FATHOM_SPECIAL_SIZE_MARK : FATHOM_SPECIAL_SIZE_COUNTER)
            guard left >= size else { return .malformed }
            position += size
            return tell(value, body, size: size - 2)
        case FATHOM_TASK:
            guard left >= Int(FATHOM_SPECIAL_SIZE_TASK) else { return .malformed }
            piece = TaskPiece(body.loadUnaligned(as: fathom_task.self))
            position += Int(FATHOM_SPECIAL_SIZE_TASK)
            return .task
        case FATHOM_SIZED...:
            guard left >= 4 else { return .malformed }
            let size = Int(body.loadUnaligned(as: UInt16.self))
            guard size % 2 == 0, left >= 4 + size else { return .malformed }
            position += 4 + size
            return tell(value, body + 2, size: size)
        default:
            return .malformed
        }
    }

    /// Takes what a record tells; `.end` when it is of a kind that is not known, which may be a later version's.
    @inlinable @inline(__always)
    mutating func tell(_ number: UInt32, _ payload: UnsafeRawPointer, size: Int) -> Record {
        guard let told = Told(number, payload, size: size) else { return .end }
        self.told = told
        return .told
    }
}
