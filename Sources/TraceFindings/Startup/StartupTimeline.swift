public import TraceFile

/// A program's start, from the moment in which it was asked for to its end point, divided without gaps: the parts add up to the whole
/// to the nanosecond. Times are in ns since the session's start, on the clock that all threads share.
public struct StartupTimeline: Sendable {
    /// What happened in a stretch of the start.
    public enum Part: Hashable, Sendable {
        /// The process was made, and the kernel found the program.
        case fork
        /// The kernel mapped the program and its loader, which then ran.
        case kernel
        /// The loader found and mapped libraries.
        case mapping
        /// The loader filled in addresses, among them those that functions of the libraries choose (IFUNC).
        case relocation
        /// An initializer ran; its index among those of the process's ``TraceFile/RecordedStart``.
        case initializer(Int)
        /// All of them, where they are not known one by one.
        case initializers
        /// The loader and the C library went from one initializer to the next, and to main.
        case between
        /// What the recording itself took.
        case recording
        /// main ran, up to the end point.
        case main
    }

    /// A stretch of time, which begins where the one before it ends.
    public struct Stretch: Sendable {
        /// More than one where it is not known where one ended and the next began.
        public var parts: [Part]
        public var begin: UInt64
        public var end: UInt64

        public var length: UInt64 { end - begin }
    }

    public let begin: UInt64
    public let end: UInt64
    /// When main was called; nil when that is not known, or came after the end.
    public let main: UInt64?
    public let stretches: [Stretch]

    /// Moments that are known of a start; nil for those that are not.
    public struct Moments: Sendable {
        public var begin: UInt64
        /// The image began.
        public var exec: UInt64?
        /// Its first instruction ran.
        public var user: UInt64?
        /// All libraries were mapped.
        public var mapped: UInt64?
        /// Where nobody noted main itself: it is known to have been called then.
        public var main: UInt64?
        /// Whether there is no loader, because the program is linked statically.
        public var isStatic = false

        public init(begin: UInt64) { self.begin = begin }
    }

    /// - Parameters:
    ///   - notes: the process's own; nil where it has none.
    ///   - ours: when the loader was at work on what recording adds, in ns of CLOCK_MONOTONIC; ascending.
    ///   - origin: what is subtracted from their times, and from these.
    public init(
        _ moments: Moments, _ notes: RecordedStart?, ours: [Range<UInt64>] = [], origin: UInt64, end: UInt64
    ) {
        let begin = moments.begin, end = max(end, begin)
        var stretches: [Stretch] = []
        var pending: [Part] = []
        var cursor = begin
        /// `part` ends at a moment, if that is known.
        func close(_ part: Part, at moment: UInt64?) {
            pending.append(part)
            guard let moment else { return }
            let limit = min(max(moment, cursor), end)
            let isLoading = pending.allSatisfy { $0 == .mapping || $0 == .relocation }
            for stretch in isLoading ? ours : [] {
                let low = max(stretch.lowerBound, origin) - origin, high = max(stretch.upperBound, origin) - origin
                guard low < limit, high > cursor else { continue }
                let (first, last) = (max(low, cursor), min(high, limit))
                if first > cursor { stretches.append(Stretch(parts: pending, begin: cursor, end: first)) }
                stretches.append(Stretch(parts: [.recording], begin: first, end: last))
                cursor = last
            }
            if limit > cursor { stretches.append(Stretch(parts: pending, begin: cursor, end: limit)) }
            cursor = limit
            pending = []
        }
        func own(_ moment: RecordedStart.Moment) -> UInt64 {
            moment.nanoseconds > origin ? moment.nanoseconds - origin : 0
        }
        close(.fork, at: moments.exec)
        close(.kernel, at: moments.user)
        if !moments.isStatic {
            close(.mapping, at: moments.mapped)
            close(.relocation, at: (notes?.preparation).map { own($0.begin) })
        }
        if let notes, let preparation = notes.preparation {
            if moments.isStatic { close(.between, at: own(preparation.begin)) }
            close(.recording, at: own(preparation.end))
            for (index, initializer) in notes.initializers.enumerated() {
                close(.between, at: own(initializer.begin))
                close(.initializer(index), at: own(initializer.end))
            }
            if let main = notes.main {
                close(.between, at: own(main.begin))
                close(.recording, at: own(main.end))
            } else {
                close(.between, at: moments.main)
            }
        } else {
            close(.initializers, at: moments.main)
        }
        let main = notes?.main.map { own($0.end) } ?? moments.main
        self.main = main.flatMap { $0 <= end ? $0 : nil }
        close(.main, at: end)
        self.begin = begin
        self.end = end
        self.stretches = stretches
    }

    public var total: UInt64 { end - begin }
}

extension StartupTimeline.Moments {
    /// What the kernel's records say of the first image.
    ///
    /// - Parameters:
    ///   - origin: what is subtracted from their times.
    ///   - limit: a moment at which the libraries were there and relocated, in ns of CLOCK_MONOTONIC.
    public init(_ kernel: KernelStart, origin: UInt64, limit: UInt64) {
        func own(_ moment: UInt64) -> UInt64 { moment > origin ? moment - origin : 0 }
        self.init(begin: own(kernel.begin))
        guard let exec = kernel.execs.first else { return }
        self.exec = own(exec)
        let next = kernel.execs.dropFirst().first ?? .max
        guard let first = kernel.faults.first(where: { $0.time >= exec && $0.time < next }) else { return }
        user = own(first.time)
        let loading = LoaderSteps(kernel, from: first.time, to: min(limit, next))
        isStatic = Set(kernel.mappings.filter { exec...first.time ~= $0.time && $0.isFile }.map(\.path)).count < 2
        if !isStatic { mapped = loading.mapped.map(own) }
    }
}
