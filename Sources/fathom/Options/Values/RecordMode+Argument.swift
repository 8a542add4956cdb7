public import ArgumentParser
public import TraceFile

extension RecordOptions.Mode: ExpressibleByArgument {}
