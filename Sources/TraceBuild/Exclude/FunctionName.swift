internal import TraceSymbols

/// The names of a function that patterns are matched with.
enum FunctionName {
    /// The linker's name, and the demangled one without its parameters: as it is shown, and in full.
    static func all(of linkageName: String) -> [String] {
        let (spoken, full) = (demangle(linkageName), demangle(linkageName, spoken: false))
        if spoken == linkageName { return [linkageName] }
        return spoken == full ? [linkageName, spoken] : [linkageName, spoken, full]
    }
}
