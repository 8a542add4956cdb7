public import ArgumentParser
public import TraceReports

extension WaitsReport.Format: ExpressibleByArgument {}
