/// Call paths as bytes, to be read again by the same build on the same machine: integers in its byte order.
///
///     magic, sum of all that follows              2 × 8 bytes
///     modules: count, then path, build-id         strings: count of bytes, bytes
///     functions: count, then module, address
///     paths: count, then function, depth, sums, blocks of the histogram: count, then number, 16 counts
///
/// Counts and numbers take 8 bytes, those of histograms 4.
extension CallPathTree {
    /// Says what the bytes mean; another layout is another number.
    private static let magic: UInt64 = 0x3347_4741_4854_4146  // "FATHAGG3"

    /// All of the tree but the names.
    public func encoded() -> [UInt8] {
        var writer = ByteCoder()
        writer.append(UInt64(functions.modules.count))
        for module in functions.modules {
            writer.append(Array(module.path.utf8))
            writer.append(module.buildID)
        }
        writer.append(UInt64(functions.functions.count))
        for function in functions.functions {
            writer.append(Int64(function.module))
            writer.append(function.address)
        }
        writer.append(UInt64(paths.count))
        for path in paths {
            writer.append(UInt64(path.function))
            writer.append(UInt64(path.depth))
            writer.append(path.sums)
            var blocks: UInt64 = 0
            histograms.forEachBlock(path.histogram) { _, _ in blocks += 1 }
            writer.append(blocks)
            histograms.forEachBlock(path.histogram) { number, counts in
                writer.append(number)
                for bucket in 0..<HistogramArena.blockSize { writer.append(counts[bucket]) }
            }
        }
        var result = ByteCoder()
        result.append(CallPathTree.magic)
        result.append(ByteCoder.sum(of: writer.bytes[...]))
        return result.bytes + writer.bytes
    }

    /// The tree that `bytes` hold, or nil when they are not what ``encoded()`` made. Its functions join those of
    /// `functions`.
    public init?(decoding bytes: [UInt8], functions: FunctionTable) {
        var reader = ByteDecoder(bytes)
        guard let magic = reader.take(UInt64.self), magic == CallPathTree.magic, let sum = reader.take(UInt64.self),
            sum == ByteCoder.sum(of: bytes.dropFirst(16)), let table = reader.table(functions)
        else { return nil }
        self.init(table, functions: functions)
    }
}

/// Appends values as they lie in memory.
private struct ByteCoder {
    private(set) var bytes: [UInt8] = []

    mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ string: [UInt8]) {
        append(UInt64(string.count))
        bytes.append(contentsOf: string)
    }

    /// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over 64-bit words; a last incomplete one counts as zero-extended.
    static func sum(of bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var sum: UInt64 = 0xcbf2_9ce4_8422_2325
            var offset = 0
            while offset + 8 <= bytes.count {
                sum = (sum ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x100_0000_01b3
                offset += 8
            }
            var last: UInt64 = 0
            for byte in bytes[offset...].reversed() { last = last << 8 | UInt64(byte) }
            return (sum ^ last) &* 0x100_0000_01b3
        }
    }
}

/// Takes values off the front of bytes that may hold anything.
private struct ByteDecoder {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func take<Value: BitwiseCopyable>(_: Value.Type) -> Value? {
        let size = MemoryLayout<Value>.size
        guard bytes.count - offset >= size else { return nil }
        defer { offset += size }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
    }

    private mutating func takeString() -> [UInt8]? {
        guard let count = takeCount() else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// A number of things of at least one byte each.
    private mutating func takeCount() -> Int? {
        guard let count = take(UInt64.self), count <= UInt64(bytes.count - offset) else { return nil }
        return Int(count)
    }

    /// Paths whose keys are ids in `functions`.
    mutating func table(_ functions: FunctionTable) -> CallPathTable? {
        var modules: [Int32] = []
        guard let moduleCount = takeCount() else { return nil }
        for _ in 0..<moduleCount {
            guard let path = takeString(), let buildID = takeString() else { return nil }
            modules.append(
                functions.intern(ModuleIdentity(path: String(decoding: path, as: UTF8.self), buildID: buildID)))
        }
        var ids: [UInt32] = []
        guard let functionCount = takeCount() else { return nil }
        for _ in 0..<functionCount {
            guard let module = take(Int64.self), module >= -1, module < modules.count, let address = take(UInt64.self)
            else { return nil }
            let owner = module < 0 ? -1 : modules[Int(module)]
            ids.append(functions.intern(FunctionTable.Function(module: owner, address: address)))
        }
        var table = CallPathTable()
        guard takePaths(ids, into: &table), offset == bytes.count else {
            table.free()
            return nil
        }
        return table
    }

    private mutating func takePaths(_ ids: [UInt32], into table: inout CallPathTable) -> Bool {
        guard let pathCount = takeCount() else { return false }
        /// The nodes that the next path may be called by, node 0 first.
        var callers: [UInt32] = [0]
        for _ in 0..<pathCount {
            guard let function = take(UInt64.self), function < ids.count, let depth = take(UInt64.self),
                depth < callers.count, let sums = take(CallPathSums.self), let blocks = takeCount()
            else { return false }
            callers.removeLast(callers.count - 1 - Int(depth))
            let node = table.callee(of: callers[Int(depth)], key: UInt64(ids[Int(function)]), epoch: 0)
            callers.append(node)
            table.nodes[Int(node)].sums = sums
            for _ in 0..<blocks {
                guard let number = take(UInt32.self), number < Bucket.count / HistogramArena.blockSize else {
                    return false
                }
                for bucket in 0..<HistogramArena.blockSize {
                    guard let count = take(UInt32.self) else { return false }
                    table.histograms.add(count, toBucket: bucket, ofBlock: number, &table.nodes[Int(node)].histogram)
                }
            }
        }
        return true
    }
}
