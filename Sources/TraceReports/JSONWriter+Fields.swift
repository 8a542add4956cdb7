internal import TraceAnalysis
internal import TraceFile
internal import TraceText

extension JSONWriter {
    /// Writes where a function is defined, as members that follow its name.
    func fields(placeOf function: ResolvedFunction) {
        field("module", function.module)
        field("file", function.file)
        field("line", function.file == nil ? nil : max(function.line, 0))
    }

    /// Writes what a process was called.
    func fields(called process: TracedProcess) {
        field("command", process.arguments)
        field("title", process.title)
    }
}
