internal import TraceAnalysis
internal import TraceText

extension ByteWriter {
    /// Writes where a function is defined, as the members of a JSON object that follow its name: `,"module":…,"file":…,"line":…`.
    func write(jsonPlaceOf function: ResolvedFunction) {
        write(",\"module\":" as StaticString)
        write(json: function.module)
        write(",\"file\":" as StaticString)
        write(json: function.file)
        write(",\"line\":" as StaticString)
        if function.file != nil {
            write(decimal: UInt64(max(function.line, 0)))
        } else {
            write("null" as StaticString)
        }
    }
}
