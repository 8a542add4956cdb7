public import ArgumentParser
public import TraceAnalysis
public import TraceHistory
public import TraceReports

extension ReportOrder: ExpressibleByArgument {}
extension Report.Format: ExpressibleByArgument {}
extension Grouping: ExpressibleByArgument {}
extension TuneReport.Format: ExpressibleByArgument {}
extension TailReport.Format: ExpressibleByArgument {}
extension UnusedReport.Format: ExpressibleByArgument {}
extension UnusedFunctions.Group: ExpressibleByArgument {}
extension TrendReport.Format: ExpressibleByArgument {}
extension ChangesReport.Format: ExpressibleByArgument {}
extension HistoryListReport.Format: ExpressibleByArgument {}
extension GateReport.Format: ExpressibleByArgument {}
extension HistoryMetric: ExpressibleByArgument {}
extension OrderReport.Format: ExpressibleByArgument {}
extension OrderFile.Linker: ExpressibleByArgument {}
