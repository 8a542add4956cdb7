internal import TraceAnalysis
internal import TraceText

/// What has been written of a session: the sums so far, of which the next files have the difference, and the files themselves.
///
/// As bytes: `FthC`, a version; numbers as LEB128 (DWARF 5, 7.6), signed ones zigzag: the part, the time, the files' paths, then each
/// path's id and sums; at the end 8 bytes, the SipHash of all that comes before.
public struct FleetState: Sendable, Equatable {
    /// How many intervals have been written.
    public var part = 0
    /// Until when, in ns since 1970; 0 before the first.
    public var time: UInt64 = 0
    /// Where the last interval's files belong, below the fleet's directory, in the order in which they are put there.
    public var files: [String] = []
    public var sums: [UInt64: FleetSums] = [:]

    public init() {}

    private static let magic = Array("FthC\u{1}".utf8)

    /// - Complexity: O(n log n) in the number of paths.
    public var bytes: [UInt8] {
        var bytes = FleetState.magic
        bytes.append(leb128: UInt64(part))
        bytes.append(leb128: time)
        bytes.append(leb128: UInt64(files.count))
        for file in files { bytes.append(counted: file.utf8) }
        bytes.append(leb128: UInt64(sums.count))
        for (id, sums) in sums.sorted(by: { $0.key < $1.key }) {
            bytes.append(leb128: id)
            for number in [sums.calls, sums.total, sums.selfTime, sums.running, sums.blocked] {
                bytes.append(zigzag: number)
            }
            // One more than the number, or 0 for none.
            bytes.append(leb128: sums.minimum.map { $0 &+ 1 } ?? 0)
            bytes.append(leb128: sums.maximum.map { $0 &+ 1 } ?? 0)
            bytes.append(leb128: UInt64(sums.durations.count))
            for duration in sums.durations {
                bytes.append(leb128: UInt64(duration.bucket))
                bytes.append(zigzag: duration.calls)
            }
        }
        let hash = SipHash.hash(bytes)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: hash >> shift)) }
        return bytes
    }

    /// - Returns: nil when the bytes are not what was written.
    public init?(bytes: [UInt8]) {
        guard bytes.count >= FleetState.magic.count + 8, bytes.starts(with: FleetState.magic) else { return nil }
        let content = bytes.dropLast(8)
        let hash = bytes.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard SipHash.hash(content) == hash else { return nil }
        let isRead = content.withUnsafeBytes { read($0) }
        guard isRead else { return nil }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = LEB128Reader(bytes, at: FleetState.magic.count)
        func optional() -> UInt64? {
            let value = reader.take()
            return value == 0 ? nil : value - 1
        }
        part = Int(clamping: reader.take())
        time = reader.take()
        for _ in 0..<reader.takeCount() { files.append(String(decoding: reader.takeBytes(), as: UTF8.self)) }
        for _ in 0..<reader.takeCount() {
            let id = reader.take()
            var sums = FleetSums()
            (sums.calls, sums.total, sums.selfTime) = (reader.takeZigzag(), reader.takeZigzag(), reader.takeZigzag())
            (sums.running, sums.blocked) = (reader.takeZigzag(), reader.takeZigzag())
            (sums.minimum, sums.maximum) = (optional(), optional())
            for _ in 0..<reader.takeCount() {
                let bucket = reader.take(below: 1 << 16)
                sums.durations.append(FleetSums.Duration(bucket: UInt16(bucket), calls: reader.takeZigzag()))
            }
            self.sums[id] = sums
        }
        return reader.isAtEnd
    }

    /// Replaces a run's sums by what has come since this state, which becomes that of now.
    ///
    /// - Parameters:
    ///   - run: with all sums until now.
    ///   - time: now, in ns since 1970.
    public mutating func advance(_ run: inout FleetRun, to time: UInt64) {
        if self.time > 0 { run.time = self.time }
        run.labels.append(("fathom.interval_ns", "\(time > run.time ? time - run.time : 0)"))
        var gone = sums
        for (index, stack) in run.stacks.enumerated() {
            guard let now = run.sums[index] else { continue }
            let before = gone.removeValue(forKey: stack.id)
            let new = before.map(now.since) ?? now
            run.sums[index] = new.isNothing ? nil : new
            sums[stack.id] = now
        }
        // What was read while it was written may prove to be nothing.
        for (id, before) in gone.sorted(by: { $0.key < $1.key }) {
            let new = FleetSums().since(before)
            if !new.isNothing { run.gone.append((id, new)) }
            sums[id] = nil
        }
        part += 1
        self.time = time
    }
}
