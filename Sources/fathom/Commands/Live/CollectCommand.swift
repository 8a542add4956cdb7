internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceFleet
internal import TraceHistory
internal import TraceQuery
internal import TraceSystem

/// `fathom collect --to DIR SESSION|PID...`
struct CollectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Write what running programs do, interval by interval, as tables of a fleet.",
        usage: "fathom collect [<options>] <session|pid> ... --to <directory|url>",
        discussion: """
            Each interval of a session becomes a run of its own in the tables, which are those of fathom export --format fleet: \
            what the calls of that interval add up to. It is made for servers that are recorded with --mode profile. It ends when all \
            recordings have ended, or by Ctrl-C or SIGTERM, and writes the last interval then. If it is killed, the next one goes on \
            where it stopped: nothing is counted twice, and nothing is left out.
            """,
        examples: [
            ("fathom collect --to fleet prog.fathom", "Writes tables of each minute until the recording ends."),
            (
                "fathom collect --to fleet --every 10s --keep 7d prog.fathom",
                "Writes them every 10 s, and removes those older than a week."
            ),
        ])

    @Argument(
        help: ArgumentHelp("Sessions, or ids of processes that are being recorded.", valueName: "session|pid"),
        completion: .session)
    var targets: [String]

    @Option(
        help: ArgumentHelp("The directory of the tables, or a URL, as s3://bucket/fleet.", valueName: "directory|url"),
        completion: .directory)
    var to: String

    @Option(
        help: ArgumentHelp("Where files wait until they are at the URL.", valueName: "directory"),
        completion: .directory)
    var spool: String?

    @Option(
        help: ArgumentHelp(
            """
            Have this command take each file away: a line for the shell, where $1 is the file and $2 where it belongs. A file is \
            removed when the command has ended with status 0.
            """, valueName: "command"))
    var upload: String?

    @Option(
        help: ArgumentHelp("How long an interval is (default: 60s).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var every = TimeSpan(nanoseconds: 60_000_000_000)

    @Option(
        help: ArgumentHelp("Remove files of intervals that were written longer ago.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var keep: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Remove the oldest intervals when all of them together are larger; the newest stays.", valueName: "size"),
        transform: ByteCount.init(argument:))
    var maxSize: ByteCount?

    @OptionGroup var labels: LabelOptions
    @OptionGroup var symbols: SymbolOptions

    func validate() throws {
        if every.nanoseconds < 10_000_000 { throw ValidationError("--every is 10ms at least") }
        switch FleetTarget(to) {
        case .directory(let path):
            if path.isEmpty { throw ValidationError("--to names a directory, as file:///var/lib/fleet") }
            if spool != nil { throw ValidationError("--spool is for --to URL") }
        case .url(_, let scheme):
            if spool == nil { throw ValidationError("--to \(scheme)://… needs --spool DIRECTORY, where files wait") }
            if upload == nil, FleetTarget.command(for: scheme) == nil {
                throw ValidationError("--to \(scheme)://… needs --upload COMMAND, which takes a file there")
            }
        }
        if let upload, upload.isEmpty { throw ValidationError("--upload names a command") }
        if let keep, keep.nanoseconds < 1_000_000_000 { throw ValidationError("--keep is 1s at least") }
        try labels.checkFleet()
    }

    func run() throws {
        var place = to, prefix = "", command = upload
        switch FleetTarget(to) {
        case .directory(let path): place = path
        case .url(let url, let scheme):
            place = spool ?? ""
            prefix = url
            while prefix.hasSuffix("/") { prefix.removeLast() }
            command = upload ?? FleetTarget.command(for: scheme)
        }
        try FileName.check(place)
        let symbols = try symbols.readable()
        let sessions = try targets.map { try runningSession($0) }
        let (reader, writer) = try CollectCommand.pipe()
        Interruption.whenever([SIGINT, SIGTERM, SIGHUP]) {
            var byte: UInt8 = 0
            _ = Glibc.write(writer, &byte, 1)
        }
        let directory = try FleetDirectory(place)
        let given = labels.label.map { ($0.name, $0.value) }
        let collectors = try sessions.map {
            try FleetCollector($0, into: directory, labels: given, symbols: symbols, listener: Diagnostics.listener)
        }
        let pruning = FleetPruning(
            directory: directory, keep: keep.map { $0.nanoseconds / 1_000_000_000 }, maxSize: maxSize?.bytes)
        let upload = command.map { FleetUpload(directory: directory, command: $0, prefix: prefix) }
        try collect(collectors, upload, pruning, until: reader)
    }

    private func collect(
        _ all: [FleetCollector], _ upload: FleetUpload?, _ pruning: FleetPruning, until stop: Int32
    ) throws {
        var collectors = all
        var next = SystemClock.monotonic
        var isStopped = false, saysPruned = true
        var failure: (any Error)?
        while true {
            var growing: [FleetCollector] = []
            for collector in collectors {
                do {
                    if try collector.collect() { growing.append(collector) }
                } catch let missed as SystemError {
                    // The next interval has what this one lacks.
                    if isStopped { failure = missed } else { Diagnostics.warn("\(missed)") }
                    growing.append(collector)
                } catch {
                    failure = Diagnostics.ended(by: error)
                }
            }
            collectors = growing
            let isLast = collectors.isEmpty || isStopped
            if let missed = upload?.run(until: { !isLast && CollectCommand.wait(for: stop, 0) }) {
                let place = upload?.directory.path ?? to
                if isLast {
                    failure = Diagnostics.fail(
                        "\(missed); files wait in \(place), for the next fathom collect", .failed)
                } else {
                    Diagnostics.warn("\(missed); files wait in \(place)")
                }
            }
            if pruning.prune() > 0, saysPruned {
                Diagnostics.warn(
                    "\(pruning.directory.path): is larger than --max-size: the oldest intervals are removed from now on"
                )
                saysPruned = false
            }
            if isLast { break }
            next += every.nanoseconds
            let now = SystemClock.monotonic
            // Whoever is late has one longer interval, and no short ones after it.
            if next < now { next = now }
            isStopped = CollectCommand.wait(for: stop, (next - now) / 1_000_000)
        }
        if let failure { throw failure }
    }

    private static func pipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else {
            throw Diagnostics.fail("pipe: \(String(cString: strerror(errno)))", .failed)
        }
        return (ends[0], ends[1])
    }

    /// Returns whether something came within so many ms.
    private static func wait(for descriptor: Int32, _ milliseconds: UInt64) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, Int32(clamping: milliseconds)) > 0
    }
}

extension LabelOptions {
    /// Refuses names that the tables have for what is known of a run.
    func checkFleet() throws {
        for one in label where one.name.hasPrefix("fathom.") {
            throw ValidationError("--label \(one.name): names that begin with fathom. are Fathom's own")
        }
    }
}
