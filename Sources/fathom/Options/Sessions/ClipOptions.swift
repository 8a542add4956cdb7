internal import ArgumentParser
internal import TraceAnalysis
internal import TraceQuery

/// How times of calls count that begin before a range of time, or end after it.
struct ClipOptions: ParsableArguments {
    @Flag(
        help: """
            With --from, --to or --range: of calls that reach beyond the range, count only the time within. Percentiles are of \
            whole calls all the same.
            """)
    var clip = false

    func apply(to options: inout QueryOptions) { options.filter.clips = clip }

    /// - Throws: bad usage where there is no range.
    func check(_ filters: FilterOptions) throws {
        if clip, filters.range == nil, filters.from == nil, filters.to == nil {
            throw ValidationError("--clip takes --from, --to or --range beside it: otherwise all time counts")
        }
    }
}
