internal import TraceAnalysis
internal import TraceText

/// Packs the sums of neighbouring subjects (functions or paths) in one run into the bytes of a row.
///
///     bitmap      4 bytes, little-endian: which of the 32 subjects the run has
///     flags       1: times follow the calls; 2: so do times without a CPU; 4: so do histograms
///     columns     calls; total; total - self; total - maximum where there are calls; minimum where there are two or more;
///                 blocked; runnable; histograms of three calls and more, each as the number of its buckets, then the steps from
///                 bucket to bucket, doubled, with 1 added where a count other than 1 follows
///
/// Numbers are LEB128 (DWARF 5, 7.6); a difference that would be negative wraps around.
enum Tile {
    static let width = 32

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let times = Flags(rawValue: 1), waits = Flags(rawValue: 2), durations = Flags(rawValue: 4)
    }

    /// - Parameter members: places from 0 to 31, in order, and their sums; not empty.
    static func encode(_ members: [(place: Int, sums: SubjectSums)]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.count * 16)
        var bitmap: UInt32 = 0
        for member in members { bitmap |= 1 << UInt32(member.place) }
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: bitmap >> shift)) }
        var flags: Flags = []
        for (_, sums) in members {
            if sums.total | sums.selfTime | sums.maximum != 0 { flags.insert(.times) }
            if sums.blocked | sums.runnable != 0 { flags.insert(.waits) }
            if !sums.durations.isEmpty { flags.insert(.durations) }
        }
        bytes.append(flags.rawValue)
        for (_, sums) in members { bytes.append(leb128: sums.calls) }
        if flags.contains(.times) {
            for (_, sums) in members { bytes.append(leb128: sums.total) }
            for (_, sums) in members { bytes.append(leb128: sums.total &- sums.selfTime) }
            for (_, sums) in members where sums.calls > 0 { bytes.append(leb128: sums.total &- sums.maximum) }
            for (_, sums) in members where sums.calls > 1 { bytes.append(leb128: sums.minimum) }
        }
        if flags.contains(.waits) {
            for (_, sums) in members { bytes.append(leb128: sums.blocked) }
            for (_, sums) in members { bytes.append(leb128: sums.runnable) }
        }
        if flags.contains(.durations) {
            for (_, sums) in members where sums.calls > 2 { bytes.append(sums.durations) }
        }
        return bytes
    }

    /// What is found of one subject.
    enum Found: Equatable {
        case sums(SubjectSums)
        /// The run does not have it.
        case absent
        /// The bytes are not what was written.
        case damaged
    }

    /// The sums of the subject at `place`. Nothing is made of the others.
    ///
    /// - Parameter wantsDurations: whether the histogram is wanted. It takes reading those of the subjects before it.
    static func sums(at place: Int, in bytes: UnsafeRawBufferPointer, wantsDurations: Bool) -> Found {
        guard let bitmap = bitmap(bytes) else { return .damaged }
        guard bitmap & 1 << UInt32(place) != 0 else { return .absent }
        let (count, rank) = (bitmap.nonzeroBitCount, (bitmap & (1 << UInt32(place) - 1)).nonzeroBitCount)
        let flags = Flags(rawValue: bytes[4])
        var reader = LEB128Reader(bytes, at: 5)
        var sums = SubjectSums()
        // By rank: which subjects have calls, more than one call, and more than two. Some columns have numbers of these
        // alone.
        let everybody: UInt32 = count == 32 ? .max : 1 << UInt32(count) - 1
        var some: UInt32 = 0, many: UInt32 = 0, several: UInt32 = 0
        for index in 0..<count {
            let calls = reader.take()
            let bit: UInt32 = 1 << UInt32(index)
            if calls > 0 { some |= bit }
            if calls > 1 { many |= bit }
            if calls > 2 { several |= bit }
            if index == rank { sums.calls = calls }
        }
        /// Reads a column that has a number for each of `members`, and returns the number of the subject at `place`.
        func take(_ members: UInt32) -> UInt64? {
            var own: UInt64?
            for index in 0..<count where members & 1 << UInt32(index) != 0 {
                let value = reader.take()
                if index == rank { own = value }
            }
            return own
        }
        if flags.contains(.times) {
            sums.total = take(everybody) ?? 0
            sums.selfTime = sums.total &- (take(everybody) ?? 0)
            if let less = take(some) { sums.maximum = sums.total &- less }
            sums.minimum = take(many) ?? sums.maximum
        }
        if flags.contains(.waits) {
            sums.blocked = take(everybody) ?? 0
            sums.runnable = take(everybody) ?? 0
        }
        if flags.contains(.durations), wantsDurations, several & 1 << UInt32(rank) != 0 {
            for index in 0...rank where several & 1 << UInt32(index) != 0 {
                guard let durations = reader.takeDurations() else { return .damaged }
                if index == rank { sums.durations = durations }
            }
        }
        return reader.hasFailed || sums.minimum > sums.maximum ? .damaged : .sums(sums)
    }

    /// The places and sums of all subjects; nil when the bytes are not what was written.
    static func all(in bytes: UnsafeRawBufferPointer) -> [(place: Int, sums: SubjectSums)]? {
        guard let bitmap = bitmap(bytes) else { return nil }
        let flags = Flags(rawValue: bytes[4])
        var reader = LEB128Reader(bytes, at: 5)
        var members: [(place: Int, sums: SubjectSums)] = []
        members.reserveCapacity(bitmap.nonzeroBitCount)
        for place in 0..<Tile.width where bitmap & 1 << UInt32(place) != 0 { members.append((place, SubjectSums())) }
        for index in members.indices { members[index].sums.calls = reader.take() }
        if flags.contains(.times) {
            for index in members.indices { members[index].sums.total = reader.take() }
            for index in members.indices {
                members[index].sums.selfTime = members[index].sums.total &- reader.take()
            }
            for index in members.indices where members[index].sums.calls > 0 {
                members[index].sums.maximum = members[index].sums.total &- reader.take()
                members[index].sums.minimum = members[index].sums.maximum
            }
            for index in members.indices where members[index].sums.calls > 1 {
                members[index].sums.minimum = reader.take()
            }
        }
        if flags.contains(.waits) {
            for index in members.indices { members[index].sums.blocked = reader.take() }
            for index in members.indices { members[index].sums.runnable = reader.take() }
        }
        if flags.contains(.durations) {
            for index in members.indices where members[index].sums.calls > 2 {
                guard let durations = reader.takeDurations() else { return nil }
                members[index].sums.durations = durations
            }
        }
        guard !reader.hasFailed, members.allSatisfy({ $0.sums.minimum <= $0.sums.maximum }) else { return nil }
        return members
    }

    private static func bitmap(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
        bytes.count >= 5 ? UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) : nil
    }
}
