public import ArgumentParser
public import TraceReports

extension SplitTimes.Shown: ExpressibleByArgument {}
