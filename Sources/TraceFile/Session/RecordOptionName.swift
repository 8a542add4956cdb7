/// The names of options in session.json, which `fathom info` shows, too.
///
/// A later version may write others. ``SessionDescription/options`` has those as well, ``SessionDescription/option(_:)``
/// finds those that are known here.
public enum RecordOptionName: String, Sendable {
    case mode
    case ringSize = "keep_bytes"
    case ringTime = "keep_ns"
    case maxPaths = "max_paths"
    case interval = "interval_ns"
    case maxDepth = "max_depth"
    case minCost = "min_cost_ns"
    case maxSize = "max_size_bytes"
    case bufferSize = "buffer_size_bytes"
    case minSize = "min_size_bytes"
    case budget = "budget_percent"
    case paused, blocked, memory, faults, startup, modules

    // Of functions, by the patterns of their names.
    case filter, notrace, hide, trigger, watch, returns, when
    case callerFilter = "caller_filter"
    case arguments = "args"
    case relativeDepth = "relative_depth"
    case complete

    /// Written by `fathom sample` only: the time that a sample stands for.
    case samplePeriod = "sample_ns"
}
