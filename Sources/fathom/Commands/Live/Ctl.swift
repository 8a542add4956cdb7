internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceReports
internal import TraceRequest
internal import TraceSymbols
internal import TraceText

struct Ctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Steer a recording that is running: start, stop, save, set limits, change the mode.",
        usage: "fathom ctl [<options>] <session>|<pid> <action> [<setting> ...]",
        discussion: """
            Actions:
              start             Record from now on.
              stop              Record no more, until it is started again.
              save              Save what was recorded until now; in --mode flight, as a
                                session of its own.
              set KEY=VALUE     Record no deeper calls (max-depth=5, or none), or no
                                shorter ones (min-cost=10us).
              filter -F GLOB    Record by these functions from now on, as the options
                                of fathom record say; without options, record all.
              mode [MODE]       Print the mode, or go on in another one: what fathom record
                                --attach records becomes another session then.
              status            Show what was asked, and which processes follow it.

            An action is for all processes of the session. Each follows at its next call, and each of its threads at the \
            thread's next call, so no call that begins after the command is missed. fathom ctl does not wait for them: a process \
            that makes no call follows when it makes one, and status shows which processes have followed.
            """,
        examples: [
            ("fathom ctl server.fathom stop", "Records no more of a server, which goes on."),
            ("fathom ctl server.fathom set max-depth=5 min-cost=10us", "Keeps fewer calls from now on."),
            ("fathom ctl server.fathom status", "Shows which processes have followed."),
        ])

    enum Action: String, CaseIterable { case start, stop, save, set, filter, mode, status }

    @Argument(
        help: ArgumentHelp("A session that is being recorded, or a process of one.", valueName: "session|pid"),
        completion: .session)
    var target: String

    @Argument(
        help: ArgumentHelp("start, stop, save, set, filter, mode or status.", valueName: "action"),
        completion: .list(Action.allCases.map(\.rawValue)))
    var action: String

    @Argument(
        help: ArgumentHelp(
            "With set: max-depth=DEPTH or none, min-cost=TIME. With mode: trace, profile, flight, counts or stack.",
            valueName: "setting"))
    var settings: [String] = []

    @OptionGroup(title: "With filter") var names: NameOptions

    @Option(help: "text or json, of status.")
    var format = ReportFormat.text

    func validate() throws { _ = try parsed() }

    /// What is to be done, with its settings read.
    private enum Request {
        case run(Bool)
        case save
        case limit(maxDepth: Int??, minCost: UInt64?)
        case filter
        case mode(RecordOptions.Mode?)
        case status
    }

    private func parsed() throws -> Request {
        guard let action = Action(rawValue: action) else {
            let near = NearNames(to: action, among: Action.allCases.map(\.rawValue))
            throw ValidationError(
                "'\(action)' is no action: start, stop, save, set, filter, mode and status are\(near.question)")
        }
        if action != .set && action != .mode, let extra = settings.first {
            throw ValidationError("\(action.rawValue) takes no setting, but is given '\(extra)'")
        }
        if action != .filter, !FunctionOptions(names).isEmpty {
            throw ValidationError("-F, -N, -C, -H and -L are for filter, not for \(action.rawValue)")
        }
        switch action {
        case .filter:
            do { _ = try FunctionMatch(FunctionOptions(names)) } catch let error as any CustomStringConvertible & Error
            {
                throw ValidationError(error.description)
            }
            return .filter
        case .start: return .run(true)
        case .stop: return .run(false)
        case .save: return .save
        case .set: return try limits()
        case .mode:
            if settings.count > 1 { throw ValidationError("mode takes one mode, but is given '\(settings[1])', too") }
            return .mode(
                try settings.first.map { name in
                    guard let mode = RecordOptions.Mode(rawValue: name) else {
                        let modes = RecordOptions.Mode.allCases.map(\.rawValue)
                        throw ValidationError(
                            "'\(name)' is no mode: \(modes.joined(separator: ", ")) are\(NearNames(to: name, among: modes).question)"
                        )
                    }
                    return mode
                })
        case .status: return .status
        }
    }

    private func limits() throws -> Request {
        var maxDepth: Int??, minCost: UInt64?
        if settings.isEmpty { throw ValidationError("say what to set: max-depth=DEPTH or min-cost=TIME") }
        for setting in settings {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch (parts[0], parts.count) {
            case ("max-depth", 2) where parts[1] == "none": maxDepth = .some(nil)
            case ("max-depth", 2):
                guard let depth = Int(parts[1]), depth >= 0 else {
                    throw ValidationError("'\(setting)': max-depth is a number from 0, or none")
                }
                maxDepth = depth
            case ("min-cost", 2):
                do { minCost = try TimeSpan(parts[1]).nanoseconds } catch {
                    throw ValidationError("'\(setting)': min-cost is a time, as 10us or 1.5ms, or 0")
                }
            case ("max-depth", _), ("min-cost", _):
                throw ValidationError("'\(setting)' has no value: \(parts[0])=VALUE")
            default:
                let near = NearNames(to: String(parts[0]), among: ["max-depth", "min-cost"])
                throw ValidationError("'\(parts[0])' cannot be set: max-depth and min-cost can\(near.question)")
            }
        }
        return .limit(maxDepth: maxDepth, minCost: minCost)
    }

    func run() throws {
        let request = try parsed()
        try FileName.check(target)
        let shown: (Request, Steering)
        do throws(SteeringError) {
            let steering = try open()
            switch request {
            case .run(let runs): steering.run(runs)
            case .save: try steering.save()
            case .limit(let maxDepth, let minCost): try steering.limit(maxDepth: maxDepth, minCost: minCost)
            case .filter: try filter(steering)
            case .mode(let mode): if let mode { try change(to: mode, steering) }
            case .status: break
            }
            shown = (request, steering)
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        try show(shown.0, shown.1)
    }

    private func open() throws(SteeringError) -> Steering {
        if let pid = processNumber(target) { return try Steering(process: pid) }
        return try Steering(session: target)
    }

    /// Options of functions: what they have begun goes on with the functions that were named first.
    private static let lasting: [RecordOptions.Name] = [.trigger, .watch, .arguments, .returns, .when]

    /// Asks for another mode, if that can do what the options of the recording say.
    private func change(to mode: RecordOptions.Mode, _ steering: Steering) throws(SteeringError) {
        let description = (try? Session(path: steering.path, readsCalls: false))?.description
        let ofTraces: [RecordOptions.Name] = [.maxSize, .budget]
        let ofRecords = Ctl.lasting + [.filter, .notrace, .callerFilter, .hide, .places, .maxDepth, .minCost]
        let others = mode == .trace ? [] : mode == .flight ? ofTraces : ofTraces + ofRecords
        if let option = others.first(where: { description?.limits(by: $0) ?? false }) {
            throw .notInMode(mode, reason: "it is recorded with \(option.flag)")
        }
        try steering.change(to: mode)
    }

    /// Names functions by what the session knows of its processes' modules.
    private func filter(_ steering: Steering) throws(SteeringError) {
        let session: Session
        do { session = try Session(path: steering.path, readsCalls: false) } catch {
            throw .noSession(reason: error.description)
        }
        if steering.mode == .trace || steering.mode == .flight,
            let option = Ctl.lasting.first(where: { session.description?.limits(by: $0) ?? false })
        {
            throw .notInMode(
                steering.mode,
                reason: "it is recorded with \(option.flag), which goes by the functions named then")
        }
        let options = FunctionOptions(names)
        guard let match = try? FunctionMatch(options) else { return }
        let otherwise: ReportedFunctions.Unhooked = session.description?.hasLibraryCalls == true ? .exported : .none
        var seen: Set<String> = [], modules: [ReportedFunctions] = []
        var named: [(module: ModuleFile, functions: [NamedFunction]?)] = []
        for module in session.processes.flatMap(\.modules) where seen.insert("\(module.path)\(module.buildID)").inserted
        {
            let functions = try? ReportedFunctions(
                path: module.path, buildID: module.buildID, lines: !options.places.isEmpty,
                unhooked: module.detours != nil ? .all : otherwise)
            if let functions { modules.append(functions) }
            named.append(
                (ModuleFile(path: module.path, buildID: module.buildID), functions.map { match.functions(of: $0) }))
        }
        match.lines(modules).forEach(Diagnostics.say)
        try steering.name(all: match.all, modules: named, text: names.text)
    }

    private func show(_ request: Request, _ steering: Steering) throws {
        let status = steering.status
        switch request {
        case .status:
            let screen = Screen(isText: format == .text)
            try screen.show(SteeringReport(status, layout: screen.layout), as: format)
        case .mode(let mode?) where mode != status.mode:
            Diagnostics.say("\(status.session): its recorder was asked to go on in --mode \(mode.rawValue)")
        case .mode: Diagnostics.say("\(status.session) is recorded in --mode \(status.mode.rawValue)")
        case .save where status.mode == .flight: Diagnostics.say("\(status.session): its recorder was asked to save")
        default:
            let count = status.processes.count
            Diagnostics.say(
                count == 0
                    ? "\(status.session): asked; no process has made a call yet"
                    : "\(status.session): asked \(count) process\(count == 1 ? ", which takes" : "es, each of which takes") it up at its next call"
            )
        }
    }
}
