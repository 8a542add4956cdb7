internal import TraceAnalysis

extension ThreadLabel {
    /// `1234 worker`; of a Swift task, `task 12`.
    var idAndName: String { task != nil ? name : name.isEmpty ? "\(tid)" : "\(tid) \(name)" }
}
