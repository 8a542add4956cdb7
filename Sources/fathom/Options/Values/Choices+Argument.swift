public import ArgumentParser
public import TraceAnalysis
public import TraceExport
public import TraceFile
public import TraceHistory
public import TraceReports
public import TraceScreen

// What options choose from.

extension ChainReport.Format: ExpressibleByArgument {}
extension ChangesReport.Format: ExpressibleByArgument {}
extension DiffReport.Format: ExpressibleByArgument {}
extension DiffReport.Order: ExpressibleByArgument {}
extension DiffReport.Subject: ExpressibleByArgument {}
extension ExportFormat: ExpressibleByArgument {}
extension FlameGraph.Colouring: ExpressibleByArgument {}
extension GateReport.Format: ExpressibleByArgument {}
extension Grouping: ExpressibleByArgument {}
extension HistoryListReport.Format: ExpressibleByArgument {}
extension HistoryMetric: ExpressibleByArgument {}
extension OrderFile.Linker: ExpressibleByArgument {}
extension OrderReport.Format: ExpressibleByArgument {}
extension RecordOptions.Mode: ExpressibleByArgument {}
extension Report.Format: ExpressibleByArgument {}
extension ReportOrder: ExpressibleByArgument {}
extension ScreenColumn: ExpressibleByArgument {}
extension SplitTimes.Shown: ExpressibleByArgument {}
extension StartupReport.Format: ExpressibleByArgument {}
extension TailReport.Format: ExpressibleByArgument {}
extension TrendReport.Format: ExpressibleByArgument {}
extension TuneReport.Format: ExpressibleByArgument {}
extension UnusedFunctions.Group: ExpressibleByArgument {}
extension UnusedReport.Format: ExpressibleByArgument {}
extension WaitsReport.Format: ExpressibleByArgument {}
