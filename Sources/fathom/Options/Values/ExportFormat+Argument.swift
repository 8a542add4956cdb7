public import ArgumentParser
public import TraceExport

extension ExportFormat: ExpressibleByArgument {}
