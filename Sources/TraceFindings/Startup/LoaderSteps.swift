public import TraceFile

/// What the loader did for each library, from the records of what was mapped. It takes the libraries one after the other, so what lies
/// between two records belongs to the later one's library: first its search and its mapping, and later its relocation, which ends
/// when its data is made read-only again.
public struct LoaderSteps {
    public struct Library: Sendable {
        public var path: String
        public var mapping: UInt64 = 0
        /// Nil when its end is not seen, because nothing of the library becomes read-only (RELRO).
        public var relocation: UInt64?
        /// Its addresses in memory.
        public var range: Range<UInt64>
    }

    /// In the order in which they were mapped, the program and the loader, which the kernel maps, left out.
    public private(set) var libraries: [Library] = []
    /// What the loader did when, in ns of CLOCK_MONOTONIC: it mapped or relocated the library of that path.
    public private(set) var stretches: [(path: String, time: Range<UInt64>)] = []
    /// When everything was mapped, in ns of CLOCK_MONOTONIC; nil when nothing was.
    public private(set) var mapped: UInt64?

    /// - Parameters:
    ///   - begin: when the first instruction ran.
    ///   - limit: when the first initializer ran.
    public init(_ kernel: KernelStart, from begin: UInt64, to limit: UInt64) {
        var writable: [String: [Range<UInt64>]] = [:]
        /// Whether memory that was writable becomes read-only.
        func isProtection(_ mapping: KernelStart.Mapping) -> Bool {
            !mapping.isWritable && mapping.isFile
                && (writable[mapping.path] ?? []).contains { $0.contains(mapping.address) }
        }
        var protections: [(path: String, time: UInt64)] = []
        var files: [(mapping: KernelStart.Mapping, time: UInt64)] = []
        var last: UInt64?
        for mapping in kernel.mappings where mapping.time < limit {
            if mapping.time >= begin {
                if isProtection(mapping) {
                    protections.append((mapping.path, mapping.time))
                } else if protections.isEmpty {
                    if mapping.isFile { files.append((mapping, mapping.time)) }
                    last = mapping.time
                }
            }
            if mapping.isWritable { writable[mapping.path, default: []].append(mapping.range) }
        }
        if protections.isEmpty { last = files.last?.time }
        mapped = last
        var cursor = begin
        for (mapping, time) in files {
            stretches.append((mapping.path, cursor..<max(cursor, time)))
            if let index = libraries.firstIndex(where: { $0.path == mapping.path }) {
                libraries[index].mapping += time - cursor
                let range = libraries[index].range
                libraries[index].range =
                    min(range.lowerBound, mapping.address)..<max(range.upperBound, mapping.range.upperBound)
            } else {
                libraries.append(Library(path: mapping.path, mapping: time - cursor, range: mapping.range))
            }
            cursor = time
        }
        cursor = last ?? begin
        for (path, time) in protections {
            stretches.append((path, cursor..<max(cursor, time)))
            if let index = libraries.firstIndex(where: { $0.path == path }) {
                libraries[index].relocation = (libraries[index].relocation ?? 0) + (time - cursor)
            }
            cursor = time
        }
    }
}
