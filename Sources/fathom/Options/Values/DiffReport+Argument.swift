public import ArgumentParser
public import TraceReports

extension DiffReport.Subject: ExpressibleByArgument {}
extension DiffReport.Format: ExpressibleByArgument {}
extension DiffReport.Order: ExpressibleByArgument {}
