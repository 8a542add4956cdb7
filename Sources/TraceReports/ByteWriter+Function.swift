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

extension ByteWriter {
    /// Writes how many calls a sum is of, and their time where it is known: `3 calls, 1.25 us`.
    func write(_ sum: CallSum) {
        write(decimal: sum.calls)
        write(sum.calls == 1 ? " call" : " calls" as StaticString)
        guard sum.time > 0 else { return }
        write(", " as StaticString)
        write(time: sum.time)
    }
}
