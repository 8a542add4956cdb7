public import ArgumentParser
public import TraceReports

extension StartupReport.Format: ExpressibleByArgument {}
