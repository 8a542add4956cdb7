/// What an export wrote.
public struct ExportSummary {
    /// The number of calls written, or of call paths where the format holds those.
    public private(set) var written: UInt64 = 0
    /// The number of calls left out because the viewer could not nest them.
    var tooDeep: UInt64 = 0
    /// What the user has to know of the file.
    public internal(set) var remarks: [String] = []

    init() {}

    /// Counts rows that are no calls.
    init(written: Int) { self.written = UInt64(written) }

    @inline(__always)
    mutating func count() { written &+= 1 }
}
