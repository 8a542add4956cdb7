internal import TraceFile

/// How reports tell a process from others of its program.
extension TracedProcess {
    /// The number of characters that a heading has room for of what a process was called.
    static let headingWidth = 72

    /// `git · git log -5`: the program, and what it was called, or the title that it gave itself; the program alone where that
    /// says no more.
    ///
    /// - Parameter width: characters of the second part; what is longer is cut.
    func label(width: Int = TracedProcess.headingWidth) -> String {
        if metadataIsLost { return "(metadata lost)" }
        let program = programName
        guard let called = calledName, called != program else { return program }
        return "\(program) · " + (called.count > width ? called.prefix(width - 1) + "…" : called)
    }
}
