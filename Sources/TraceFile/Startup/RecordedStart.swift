internal import CTraceFormat

/// What a process noted of its own start: its initializers, each by itself, and its main function.
public struct RecordedStart: Sendable {
    /// What the main thread had done up to a moment.
    public struct Moment: Sendable, Equatable {
        /// ns of CLOCK_MONOTONIC.
        public var nanoseconds: UInt64
        public var minorFaults: UInt64
        public var majorFaults: UInt64
        /// Bytes that it had read from disks.
        public var bytesRead: UInt64

        public init(nanoseconds: UInt64, minorFaults: UInt64 = 0, majorFaults: UInt64 = 0, bytesRead: UInt64 = 0) {
            self.nanoseconds = nanoseconds
            self.minorFaults = minorFaults
            self.majorFaults = majorFaults
            self.bytesRead = bytesRead
        }
    }

    /// A stretch of time in which something was called.
    public struct Part: Sendable {
        /// Address in memory.
        public var function: UInt64
        public var begin: Moment
        public var end: Moment
        /// Whether the program's own DT_PREINIT_ARRAY has it.
        public var isPreinitializer = false

        public init(function: UInt64, begin: Moment, end: Moment) {
            self.function = function
            self.begin = begin
            self.end = end
        }
    }

    /// The runtime got ready to record, before any initializer.
    public internal(set) var preparation: Part?
    /// In the order in which they ran.
    public internal(set) var initializers: [Part] = []
    /// The runtime got out of the way; main was called when this ended. Nil: main was not reached, or not seen.
    public internal(set) var main: Part?
    /// Arrays of initializers that were not looked into, so that these are not known apart.
    public internal(set) var skippedArrays = 0
}

extension RecordedStart {
    mutating func add(_ raw: fathom_startup_item) {
        func moment(_ raw: fathom_startup_moment) -> Moment {
            Moment(
                nanoseconds: raw.ns, minorFaults: raw.minor, majorFaults: raw.major,
                bytesRead: raw.blocks.multipliedReportingOverflow(by: 512).partialValue)
        }
        var part = Part(function: raw.function, begin: moment(raw.begin), end: moment(raw.end))
        part.end.nanoseconds = max(part.begin.nanoseconds, part.end.nanoseconds)
        switch raw.kind {
        case FATHOM_STARTUP_RUNTIME:
            preparation = part
            skippedArrays = Int(raw.skipped)
        case FATHOM_STARTUP_PREINITIALIZER:
            part.isPreinitializer = true
            initializers.append(part)
        case FATHOM_STARTUP_INITIALIZER: initializers.append(part)
        case FATHOM_STARTUP_MAIN: main = part
        default: break
        }
    }
}
