internal import TraceSymbols

/// What a function is called, for patterns to match.
enum FunctionName {
    /// The linker's name, and the demangled one without its parameters.
    static func all(of linkageName: String) -> [String] {
        let demangled = demangle(linkageName)
        return demangled == linkageName ? [linkageName] : [linkageName, demangled]
    }
}
