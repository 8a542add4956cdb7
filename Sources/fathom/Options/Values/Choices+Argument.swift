public import ArgumentParser
public import TraceAnalysis
public import TraceExport
public import TraceFile
public import TraceFindings
public import TraceHistory
public import TraceReports
public import TraceScreen
public import TraceText

// What options choose from.

extension ChangesReport.Format: ExpressibleByArgument {}
extension DiffReport.Format: ExpressibleByArgument {}
extension DiffReport.Order: ExpressibleByArgument {}
extension DiffReport.Subject: ExpressibleByArgument {}
extension DumpReport.Format: ExpressibleByArgument {}
extension ExportFormat: ExpressibleByArgument {}
extension FlameFile.Format: ExpressibleByArgument {}
extension FlameGraph.Colouring: ExpressibleByArgument {}
extension GateReport.Format: ExpressibleByArgument {}
extension Grouping: ExpressibleByArgument {}
extension HistoryMetric: ExpressibleByArgument {}
extension OrderFile.Linker: ExpressibleByArgument {}
extension RecordOptions.Mode: ExpressibleByArgument {}
extension ReportFormat: ExpressibleByArgument {}
extension ReportOrder: ExpressibleByArgument {}
extension ScreenColumn: ExpressibleByArgument {}
extension SplitTimes.Shown: ExpressibleByArgument {}
extension StartupReport.Format: ExpressibleByArgument {}
extension TableReport.Format: ExpressibleByArgument {}
extension TrendReport.Format: ExpressibleByArgument {}
extension UnusedFunctions.Group: ExpressibleByArgument {}
extension UnusedReport.Format: ExpressibleByArgument {}
