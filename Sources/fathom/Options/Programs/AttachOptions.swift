internal import ArgumentParser
internal import TraceAnalysis

/// Which running process is recorded, and for how long.
struct AttachOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Record a process that runs already and has hooks, until Ctrl-C, `fathom ctl ... stop` or its end; it goes on as \
            before.
            """, valueName: "pid"))
    var attach: Int32?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("With --attach, record for so long, as 10s.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var time: TimeSpan?
}
