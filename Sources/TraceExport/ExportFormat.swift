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

    /// The number of calls that its viewers take in a file; nil for a format without such a limit.
    public var callLimit: UInt64? { type(of: exporter).limit?.calls }

    /// What writes the format.
    public var exporter: any Exporter {
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
        }
    }
}
