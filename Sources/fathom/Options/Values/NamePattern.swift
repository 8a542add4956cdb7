internal import ArgumentParser
internal import TraceAnalysis

/// Reads a name pattern; a bad one is bad usage.
func namePattern(_ text: String) throws -> Pattern { try usage { try Pattern(text) } }

/// Reads a value of an option; what it is refused for, described by a line, is bad usage.
func usage<Value>(_ read: () throws -> Value) throws -> Value {
    do { return try read() } catch let error as any CustomStringConvertible & Error {
        throw ValidationError(error.description)
    }
}
