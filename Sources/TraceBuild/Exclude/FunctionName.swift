internal import TraceSymbols

/// What a function is called, for patterns to match.
enum FunctionName {
    /// The linker's name, and the demangled one without its parameters: as it is shown, and in full.
    static func all(of linkageName: String) -> [String] {
        let (spoken, full) = (demangle(linkageName), demangle(linkageName, spoken: false))
        if spoken == linkageName { return [linkageName] }
        return spoken == full ? [linkageName, spoken] : [linkageName, spoken, full]
    }
}
