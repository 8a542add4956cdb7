public import ArgumentParser
public import TraceAnalysis

extension TimeSpan: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public var defaultValueDescription: String { "\(nanoseconds)ns" }
}
