public import ArgumentParser
public import TraceScreen

extension ScreenColumn: ExpressibleByArgument {}
