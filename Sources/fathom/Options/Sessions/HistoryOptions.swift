internal import ArgumentParser
internal import Glibc
internal import TraceHistory
internal import TraceText

/// Which history a command is about.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The history, a file (default: FATHOM_HISTORY, or fathom-history.db in this directory).", valueName: "file"),
        completion: .file())
    var history: String?

    /// The history that commands read when none is named.
    static var standardPath: String {
        getenv("FATHOM_HISTORY").map { String(cString: $0) } ?? "fathom-history.db"
    }

    /// The file's path; bad usage is thrown.
    var path: String {
        get throws {
            let given = history ?? HistoryOptions.standardPath
            if given.isEmpty { throw ValidationError("--history names a file") }
            try FileName.check(given)
            return given
        }
    }

    func open(creates: Bool = false) throws -> HistoryStore { try openHistory(try path, creates: creates) }
}

/// The same of a command that takes the history as an argument, too: `fathom history list h.db`.
struct NamedHistoryOptions: ParsableArguments {
    @OptionGroup var options: HistoryOptions

    @Argument(help: ArgumentHelp("The history, instead of --history.", valueName: "file"), completion: .file())
    var file: String?

    func validate() throws {
        if let file, let history = options.history {
            throw ValidationError("the history is named twice: \(file), and --history \(history)")
        }
    }

    func open() throws -> HistoryStore {
        var options = options
        if let file { options.history = file }
        return try options.open()
    }
}

/// Opens a history; why it cannot be is said.
func openHistory(_ path: String, creates: Bool) throws -> HistoryStore {
    do throws(HistoryError) {
        return try HistoryStore(path: path, creates: creates)
    } catch {
        throw Diagnostics.ended(by: error)
    }
}

/// A label as it is given: `version=1.2`.
struct Label {
    let name: String
    let value: String

    private struct InvalidText: Error, CustomStringConvertible {
        let description = "a label is a name and a value, as version=1.2"
    }

    init(argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { throw InvalidText() }
        (name, value) = (String(parts[0]).visible, String(parts[1]).visible)
    }
}

/// What is said of runs that are added.
struct LabelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What to say of the run, as version=1.2 or commit=4f2a; several times.", valueName: "name=value"),
        transform: Label.init(argument:))
    var label: [Label] = []

    func validate() throws {
        for (index, one) in label.enumerated() where label[..<index].contains(where: { $0.name == one.name }) {
            throw ValidationError("--label \(one.name) is given twice")
        }
    }
}

/// Which runs of a history are looked at.
struct RunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Runs of this program (default: the newest run's).", valueName: "name"))
    var program: String?

    @Option(
        help: ArgumentHelp(
            "Runs of this command, as history list shows it (default: the newest run's).", valueName: "text"))
    var command: String?

    @Option(
        help: ArgumentHelp(
            "Runs on this machine: a host's name, or the value of the label machine (default: the newest run's).",
            valueName: "name"))
    var host: String?

    @Flag(help: "Runs on all machines.")
    var anyHost = false

    @Option(
        help: ArgumentHelp("Only runs with this label; several times for several.", valueName: "name=value"),
        transform: Label.init(argument:))
    var label: [Label] = []

    @Option(
        help: ArgumentHelp(
            "Runs from this one on: its number, or the value of a label that it is the first to have.",
            valueName: "run|value"))
    var since: String?

    @Option(help: ArgumentHelp("So many of the newest runs.", valueName: "runs"))
    var last: Int?

    func validate() throws {
        if let last, last < 1 { throw ValidationError("--last is a number of runs") }
        if host != nil, anyHost { throw ValidationError("--host and --any-host exclude each other") }
    }

    var selection: RunSelection {
        var selection = RunSelection()
        selection.program = program
        selection.command = command
        selection.host = host
        selection.anyHost = anyHost
        selection.labels = label.map { ($0.name, $0.value) }
        selection.since = since
        selection.last = last
        return selection
    }

    /// Says that there are runs that are not looked at.
    static func tell(_ found: RunSelection.Found) {
        guard found.others > 0 else { return }
        Diagnostics.say(
            "\(found.others) more run\(found.others == 1 ? " is" : "s are") of another command, program or machine, or kept otherwise: "
                + "--program, --command, --host and --any-host choose")
    }
}
