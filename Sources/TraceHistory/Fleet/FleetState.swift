internal import TraceAnalysis

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
        func append(_ value: UInt64) {
            var rest = value
            while rest >= 128 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        func append(signed value: Int64) { append(UInt64(bitPattern: value << 1 ^ value >> 63)) }
        append(UInt64(part))
        append(time)
        append(UInt64(files.count))
        for file in files {
            append(UInt64(file.utf8.count))
            bytes += file.utf8
        }
        append(UInt64(sums.count))
        for (id, sums) in sums.sorted(by: { $0.key < $1.key }) {
            append(id)
            for number in [sums.calls, sums.total, sums.selfTime, sums.running, sums.blocked] { append(signed: number) }
            // One more than the number, or 0 for none.
            append(sums.minimum.map { $0 &+ 1 } ?? 0)
            append(sums.maximum.map { $0 &+ 1 } ?? 0)
            append(UInt64(sums.durations.count))
            for duration in sums.durations {
                append(UInt64(duration.bucket))
                append(signed: duration.calls)
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
        var reader = KeptReader(bytes, at: FleetState.magic.count)
        func signed() -> Int64 {
            let value = reader.take()
            return Int64(bitPattern: value >> 1) ^ -Int64(value & 1)
        }
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
            (sums.calls, sums.total, sums.selfTime) = (signed(), signed(), signed())
            (sums.running, sums.blocked) = (signed(), signed())
            (sums.minimum, sums.maximum) = (optional(), optional())
            for _ in 0..<reader.takeCount() {
                let bucket = reader.take(below: 1 << 16)
                sums.durations.append(FleetSums.Duration(bucket: UInt16(bucket), calls: signed()))
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
