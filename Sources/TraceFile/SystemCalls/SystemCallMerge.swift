package import CTraceFormat

/// Puts system calls among the records of the thread that made them, each as a call of the innermost call that was open.
///
/// A thread is either in the kernel or writes records, so no record lies within a system call, except that a clock was read late by
/// some ns: such a record goes to the nearer side.
///
/// - Complexity: O(records + calls).
package struct SystemCallMerge {
    /// What the recording leaves out of calls.
    package struct Limits: Sendable {
        /// In ticks: shorter calls are left out.
        var shortest: UInt64
        /// The depth of the first call that is left out.
        var depth: UInt32
        /// Whether only calls within other calls are kept.
        var onlyWithin: Bool

        package init(_ options: RecordOptions, _ clock: SessionClock) {
            shortest = clock.ticks(nanoseconds: options.minCost)
            depth = options.maxDepth.map { UInt32(clamping: $0) &+ 1 } ?? .max
            onlyWithin = !options.functions.only.isEmpty || !options.functions.leadingTo.isEmpty
        }
    }

    /// The chunk's header, as it is with the calls.
    package private(set) var header: fathom_chunk
    /// Its payload.
    package private(set) var payload: [UInt8]

    private let limits: Limits
    private var calls: ArraySlice<SystemCall>
    private let ticks: (UInt64) -> UInt64
    /// The time of the last record that was written, in ticks.
    private var written: UInt64
    /// The function base of what is written.
    private var base: UInt64
    /// Open calls of the lane that runs.
    private var depth: UInt32

    /// - Parameters:
    ///   - header: of a chunk of records that nobody writes any more.
    ///   - payload: what it holds.
    ///   - calls: those of its thread that began before the chunk ended, in their order, and that are in no other chunk.
    ///   - isLast: whether the chunk ends with the last of the calls, if that ends later.
    ///   - readings: of the session's clock and the kernel's, in their order; one at least.
    ///   - clock: that of the session.
    package init(
        _ header: fathom_chunk, _ payload: UnsafeRawBufferPointer, _ calls: [SystemCall], isLast: Bool = false,
        _ limits: Limits, _ readings: [SessionClock.Moment], _ clock: SessionClock
    ) {
        self.limits = limits
        self.calls = calls[...]
        self.header = header
        ticks = Self.converter(readings, clock)
        let path = Int(header.path_count) * MemoryLayout<fathom_path_entry>.size
        self.payload = Array(payload.prefix(path))
        self.payload.reserveCapacity(payload.count + calls.count * 128)
        base = UInt64(header.function_base)
        depth = header.depth
        written = header.begin_ticks
        // What a thread did before its first record is its own as well.
        if header.sequence == 0, let first = calls.first, first.begin < header.begin_ns {
            written = min(written, ticks(first.begin))
            (self.header.begin_ticks, self.header.begin_ns, self.header.ran) = (written, first.begin, 0)
        }
        merge(UnsafeRawBufferPointer(rebasing: payload.dropFirst(path)), from: header.begin_ticks)
        let isOpen = header.end_ticks == 0 || isLast
        put(until: isOpen ? .max : max(header.end_ticks, written), isEnd: true)
        if isOpen, header.end_ticks != 0, written > header.end_ticks {
            self.header.end_ns = header.end_ns &+ clock.nanoseconds(ticks: written - header.end_ticks)
            (self.header.end_ticks, self.header.ran) = (written, 0)
        }
        self.header.used = UInt32(clamping: self.payload.count)
        self.header.capacity = max(header.capacity, self.header.used)
    }

    /// ns as ticks, by the readings before and after; outside of these, by the nearest two.
    private static func converter(
        _ readings: [SessionClock.Moment], _ clock: SessionClock
    ) -> (UInt64) -> UInt64 {
        { moment in
            let last = max(readings.count - 1, 0)
            let after = min(max(readings.partitioningIndex { $0.nanoseconds > moment }, 1), last)
            let (first, second) = (readings[max(after - 1, 0)], readings[after])
            let isPair = second.nanoseconds > first.nanoseconds && second.ticks > first.ticks
            let span = isPair ? second.nanoseconds - first.nanoseconds : 1_000_000_000
            let ticks = isPair ? second.ticks - first.ticks : clock.ticksPerSecond
            let isLater = moment > first.nanoseconds
            let distance = isLater ? moment - first.nanoseconds : first.nanoseconds - moment
            let (high, low) = distance.multipliedFullWidth(by: ticks)
            guard high < span else { return isLater ? .max : 0 }
            let found = span.dividingFullWidth((high, low)).quotient
            return isLater ? first.ticks &+ found : first.ticks - min(found, first.ticks)
        }
    }

    /// Copies the records, with the calls between them.
    ///
    /// - Parameter begin: the time that the first one's counts from, in ticks.
    private mutating func merge(_ records: UnsafeRawBufferPointer, from begin: UInt64) {
        var time = begin, position = 0
        /// The function base of what is read.
        var readBase = base
        /// Records that say something of the next one, and so stay before it.
        var held: [UInt8] = []
        while position + 2 <= records.count {
            if calls.isEmpty, held.isEmpty {
                move(to: time)
                put(base: readBase)
                break
            }
            let record = records.baseAddress! + position
            let size = Int(fathom_record_size(record, records.count - position))
            guard position + size <= records.count else { break }
            position += size
            let unit = UInt32(record.loadUnaligned(as: UInt16.self)), value = unit >> 1
            if unit & 1 != 0 {
                time &+= UInt64(value)
                let delta = follow(to: time)
                put(base: readBase)
                payload += held
                held = []
                append(record.loadUnaligned(as: UInt64.self) & ~0xfffe | delta << 1)
                depth &+= 1
                continue
            }
            switch value {
            case ..<FATHOM_SPECIAL:
                time &+= UInt64(value)
                let delta = follow(to: time)
                payload += held
                held = []
                append(UInt16(delta << 1))
                depth -= min(depth, 1)
            case FATHOM_TIME:
                let low = UInt64((record + 2).loadUnaligned(as: UInt32.self))
                time &+= low | UInt64((record + 6).loadUnaligned(as: UInt16.self)) << 32
            case FATHOM_BASE: readBase = UInt64((record + 2).loadUnaligned(as: UInt32.self))
            case FATHOM_SITE, FATHOM_TASK, FATHOM_RESULT: held += UnsafeRawBufferPointer(start: record, count: size)
            default:
                put(until: time, isEnd: false)
                move(to: time)
                payload += held
                held = []
                payload += UnsafeRawBufferPointer(start: record, count: size)
                if value == FATHOM_UNWIND { depth -= min(depth, (record + 2).loadUnaligned(as: UInt32.self)) }
                if value == FATHOM_LANE { depth = (record + 6).loadUnaligned(as: UInt32.self) }
            }
        }
        payload += held
        payload += records.dropFirst(position)
    }

    /// Writes the calls that come before a record at `time`, and moves the time on to it as far as the record cannot say it.
    ///
    /// - Returns: the ticks that the record itself has to say.
    private mutating func follow(to time: UInt64) -> UInt64 {
        put(until: time, isEnd: false)
        if time &- written >= UInt64(FATHOM_DELTA_LIMIT) { move(to: time) }
        defer { written = time }
        return time &- written
    }

    /// Writes the calls that come before `time`.
    ///
    /// - Parameter isEnd: whether no record follows.
    private mutating func put(until time: UInt64, isEnd: Bool) {
        while let call = calls.first {
            let begin = min(max(ticks(call.begin), written), time)
            var end = call.end.map { max(ticks($0), begin) }
            if !isEnd {
                guard let ended = end, ticks(call.begin) <= time else { return }
                // The record lies within the call: it goes to the nearer side.
                if ended > time, ended - time > time - begin { return }
            }
            end = end.map { min($0, time) }
            calls.removeFirst()
            let isShort = end.map { $0 - begin < limits.shortest } ?? false
            if isShort || depth >= limits.depth || limits.onlyWithin && depth == 0 { continue }
            put(call, begin, end)
        }
    }

    private mutating func put(_ call: SystemCall, _ begin: UInt64, _ end: UInt64?) {
        if begin &- written >= UInt64(FATHOM_DELTA_LIMIT) { move(to: begin) }
        let function = fathom_scope_base() + UInt64(FATHOM_SYSTEM_CALL_IDS + call.number)
        put(base: function >> 32)
        append(UInt16(FATHOM_SITE << 1))
        append(call.address)
        append(1 | (begin &- written) << 1 | function << 32)
        written = begin
        put(FATHOM_ARGUMENTS, FATHOM_SYSTEM_CALL_IDS + call.number, values(of: call))
        header.calls &+= 1
        guard let end else { return depth &+= 1 }
        let isError = (-4095..<0).contains(call.result)
        var result = Self.value(UInt64(bitPattern: isError ? -1 : call.result))
        if isError { result += [UInt8(FATHOM_VALUE)] + withUnsafeBytes(of: Int32(-call.result), Array.init) }
        if end &- written >= UInt64(FATHOM_DELTA_LIMIT) { move(to: end) }
        put(FATHOM_RESULT, FATHOM_SYSTEM_CALL_RESULTS + call.number, result)
        append(UInt16((end &- written) << 1))
        written = end
    }

    private func values(of call: SystemCall) -> [UInt8] {
        var values: [UInt8] = []
        for (place, argument) in (SystemCalls.prototype(call.number)?.arguments ?? []).prefix(6).enumerated() {
            if let text = call.texts.first(where: { $0.place == place }) {
                values += [UInt8(text.isCut ? FATHOM_VALUE_CUT : FATHOM_VALUE_TEXT)]
                values += withUnsafeBytes(of: UInt16(text.bytes.count), Array.init) + text.bytes
            } else {
                values += Self.value(SystemCalls.recorded(call.arguments[place], argument.type))
            }
        }
        return values
    }

    private static func value(_ value: UInt64) -> [UInt8] {
        [UInt8(FATHOM_VALUE)] + withUnsafeBytes(of: value, Array.init)
    }

    private mutating func put(_ record: UInt32, _ layout: UInt32, _ values: [UInt8]) {
        append(UInt16(record << 1))
        append(UInt16((4 + values.count + 1) & ~1))
        append(layout)
        payload += values
        if values.count & 1 != 0 { payload.append(0) }
    }

    private mutating func put(base: UInt64) {
        if base == self.base { return }
        append(UInt16(FATHOM_BASE << 1))
        append(UInt32(truncatingIfNeeded: base))
        self.base = base
    }

    private mutating func move(to time: UInt64) {
        var ticks = time &- written
        written = time
        while ticks > 0 {
            let some = min(ticks, FATHOM_TIME_LIMIT)
            append(UInt64(FATHOM_TIME) << 1 | some << 16)
            ticks -= some
        }
    }

    private mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        withUnsafeBytes(of: value) { payload += $0 }
    }
}
