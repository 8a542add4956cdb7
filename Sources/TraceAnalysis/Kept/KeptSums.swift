public import TraceFile
internal import TraceText

/// The sums of a finished recording as bytes of a file, in sections that are read one by one, so that a view of
/// functions does not read the paths.
///
///     header     magic, the log's identity, place and checksum of each section, checksum of the header: words of 8 bytes
///     names      modules: path, build-id; functions: module, address
///     functions  a row for each function
///     threads    sums of each thread
///     paths      the call paths in pre-order
///     histograms those of the paths that have more than two calls
///
/// The bytes are for the same build on the same machine. Bytes that are not what was written give nothing: each section
/// has a checksum, and what is read is checked besides, so that no bytes whatever make a view fail.
public struct KeptSums {
    enum Section: Int, CaseIterable { case names, functions, threads, paths, histograms }

    private struct Place: Equatable {
        var offset: UInt64 = 0
        var size: UInt64 = 0
        var sum: UInt64 = 0
    }

    /// Says what the bytes mean. Another layout has another number.
    private static let magic: UInt64 = 0x3747_4741_4854_4146  // "FATHAGG7"
    private static let identityWords = 4
    private static let words = 1 + identityWords + 3 * Section.allCases.count + 1
    /// The size of the header in bytes. The sections stand behind it.
    public static let headerSize = words * 8

    /// Reads this many bytes of the file; nil when they are not there.
    public typealias Read = (_ offset: Int, _ size: Int) -> [UInt8]?

    private let places: [Place]
    private let read: Read

    /// - Parameters:
    ///   - identity: 4 words that identify the log that the sums are to be of.
    ///   - fileSize: how many bytes the file has.
    /// - Returns: nil when there are no sums of that log.
    public init?(of identity: [UInt64], fileSize: Int, read: @escaping Read) {
        guard let bytes = read(0, KeptSums.headerSize), bytes.count == KeptSums.headerSize else { return nil }
        let words = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        guard words[0] == KeptSums.magic, Array(words[1...KeptSums.identityWords]) == identity,
            words.last == KeptSums.sum(words.dropLast())
        else { return nil }
        places = Section.allCases.map { section in
            let first = 1 + KeptSums.identityWords + 3 * section.rawValue
            return Place(offset: words[first], size: words[first + 1], sum: words[first + 2])
        }
        let end = UInt64(fileSize)
        guard places.allSatisfy({ $0.offset <= end && $0.size <= end - $0.offset }) else { return nil }
        self.read = read
    }

    /// Passes the bytes of all sections to `write`, in order.
    ///
    /// - Parameters:
    ///   - tree: as it was recorded.
    ///   - functions: rows of its functions, made as `settings` say.
    ///   - threads: likewise, of all threads.
    /// - Returns: the header, which stands before them.
    public static func write(
        _ tree: CallPathTree, functions: [AggregateRow], threads: [ThreadSums], _ settings: RowSettings,
        of identity: [UInt64], to write: @escaping (UnsafeRawBufferPointer) -> Void
    ) -> [UInt8] {
        var words = [magic] + identity
        var offset = UInt64(headerSize)
        let key = settings.key(of: tree.functions, Array(0..<UInt32(tree.functions.functions.count)))
        for section in Section.allCases {
            var writer = KeptWriter(write)
            switch section {
            case .names: writer.append(tree.functions)
            case .functions: writer.append(functions, dropped: tree.dropped, key)
            case .threads: writer.append(threads, key)
            case .paths: writer.append(tree)
            case .histograms: writer.append(histogramsOf: tree)
            }
            let sum = writer.finish()
            words += [offset, UInt64(writer.size), sum]
            offset += UInt64(writer.size)
        }
        words.append(sum(words[...]))
        return words.withUnsafeBytes { Array($0) }
    }

    private static func sum(_ words: ArraySlice<UInt64>) -> UInt64 {
        var sum = KeptChecksum()
        for word in words { sum.add(word) }
        return sum.value
    }

    /// The bytes of `section`, if they are what was written.
    private func bytes(of section: Section) -> [UInt8]? {
        let place = places[section.rawValue]
        guard let bytes = read(Int(place.offset), Int(place.size)), bytes.count == Int(place.size) else { return nil }
        return KeptChecksum.sum(of: bytes) == place.sum ? bytes : nil
    }

    /// What `body` takes of a section; nil unless it takes all of it.
    private func take<Result>(_ section: Section, _ body: (inout LEB128Reader) -> Result?) -> Result? {
        guard let bytes = bytes(of: section) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes)
            let result = body(&reader)
            return reader.isAtEnd ? result : nil
        }
    }

    // MARK: Reading

    /// The row of each function, in the order of ``CallPathTree/rows(by:)``, and what the record options left out.
    ///
    /// - Parameter functions: takes up the functions that the rows are of.
    /// - Returns: nil when there are none as `settings` want them.
    public func functionRows(
        _ functions: FunctionTable, _ settings: RowSettings
    ) -> (rows: [AggregateRow], dropped: CallSum)? {
        guard let ids = take(.names, { $0.takeNames(functions) }) else { return nil }
        let key = settings.key(of: functions, ids)
        return take(.functions) { $0.takeRows(ids, key) }
    }

    /// The sums of the threads of `session`.
    ///
    /// - Returns: nil when there are none as `settings` want them.
    public func threads(of session: Session, _ functions: FunctionTable, _ settings: RowSettings) -> [ThreadSums]? {
        guard let ids = take(.names, { $0.takeNames(functions) }) else { return nil }
        let key = settings.key(of: functions, ids)
        return take(.threads) { $0.takeThreads(of: session, key) }
    }

    /// The call paths, as they were recorded.
    ///
    /// - Parameter functions: takes up the functions of the paths.
    /// - Complexity: O(paths).
    public func tree(_ functions: FunctionTable) -> CallPathTree? {
        guard let ids = take(.names, { $0.takeNames(functions) }), let histograms = bytes(of: .histograms) else {
            return nil
        }
        let store = take(.paths) { $0.takePaths(ids, KeptHistograms(histograms)) }
        return store.map { CallPathTree($0, functions: functions) }
    }
}

extension RowSettings {
    /// A number for what rows depend on: the cost that was taken out, and which of the functions `ids` were hidden.
    func key(of functions: FunctionTable, _ ids: [UInt32]) -> UInt64 {
        var sum = KeptChecksum()
        sum.add(cost?.perCall.bitPattern ?? .max)
        if hidesCompilerMade { for id in ids { sum.add(functions[id].isCompilerMade ? 2 : 1) } }
        return sum.value
    }
}
