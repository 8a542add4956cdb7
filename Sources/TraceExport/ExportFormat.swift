/// The formats that sessions are exported to.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// Perfetto's protobuf trace: the timeline of every thread.
    case perfetto
    /// The timeline of every thread, for speedscope.
    case speedscope
    /// Chrome's trace events: a timeline that many tools read.
    case chrome
    /// Call paths with self time, one a line, for flame graph tools.
    case folded
    /// Call paths with calls and self time, for pprof.
    case pprof
    /// Functions and who calls whom, for KCachegrind and callgrind_annotate.
    case callgrind
    /// Functions and who calls whom, as a drawing for Graphviz.
    case dot
    /// The timeline and call tree of every thread, for the Firefox Profiler.
    case firefox
    /// One line a call.
    case csv
    /// Call paths with all their sums, a table for data tools.
    case parquet
    /// Call paths with calls and self time, as OpenTelemetry has profiles.
    case otlp
    /// Call paths of a run, as tables that those of other runs are put beside.
    case fleet

    /// Whether its files hold each call, and not what they add up to.
    public var showsCalls: Bool {
        switch self {
        case .perfetto, .speedscope, .chrome, .firefox, .csv: true
        case .folded, .pprof, .callgrind, .dot, .parquet, .otlp, .fleet: false
        }
    }

    /// Whether its viewers take files of a limited size.
    public var hasLimit: Bool { exporter.flatMap { type(of: $0).limit } != nil }

    /// Whether it is several files in a directory, which ``FleetTables`` writes.
    public var isDirectory: Bool { exporter == nil }

    /// Whether its files are compressed by themselves, so that readers take no other compression.
    public var isCompressed: Bool { self == .pprof || self == .parquet || self == .fleet }

    /// Why speedscope would not read a file of this name, and what helps; nil when it does, or is not meant to.
    public func misleadingName(_ path: String) -> String? {
        guard self == .speedscope || self == .chrome else { return nil }
        var name = path[...]
        for ending in [".gz", ".zst"] where name.hasSuffix(ending) { name = name.dropLast(ending.count) }
        let own = self == .chrome ? [".speedscope.json"] : []
        let taken = own + [".chrome.json", ".cpuprofile", ".stackprof.json", ".v8log.json", ".heapprofile"]
        guard let ending = taken.first(where: { name.hasSuffix($0) }) else { return nil }
        let better = self == .speedscope ? ".speedscope.json" : ".trace.json"
        return "speedscope takes a file named \(ending) for another kind, and fails: end the name in \(better)"
    }

    /// What writes the format with a row for each call; nil for a format in which it is not for the user to choose.
    public var exporterOfCalls: (any Exporter)? { self == .parquet ? ParquetCallsExporter() : nil }

    /// What writes the format; nil for one that is no single file.
    public var exporter: (any Exporter)? {
        switch self {
        case .perfetto: PerfettoExporter()
        case .speedscope: SpeedscopeExporter()
        case .chrome: ChromeExporter()
        case .folded: FoldedExporter()
        case .pprof: PprofExporter()
        case .callgrind: CallgrindExporter()
        case .dot: DotExporter()
        case .firefox: FirefoxExporter()
        case .csv: CSVExporter()
        case .parquet: ParquetExporter()
        case .otlp: OTLPExporter()
        case .fleet: nil
        }
    }
}
