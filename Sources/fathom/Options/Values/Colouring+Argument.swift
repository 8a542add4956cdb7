public import ArgumentParser
public import TraceReports

extension FlameGraph.Colouring: ExpressibleByArgument {}
