internal import ArgumentParser
internal import TraceAnalysis

/// Reads a name pattern; a bad one is bad usage.
func namePattern(_ text: String) throws -> Pattern {
    do throws(Pattern.InvalidPattern) {
        return try Pattern(text)
    } catch {
        throw ValidationError(error.description)
    }
}
