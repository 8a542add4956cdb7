public import ArgumentParser
public import TraceReports

extension ChainReport.Format: ExpressibleByArgument {}
