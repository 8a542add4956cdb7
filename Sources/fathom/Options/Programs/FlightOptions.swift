internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceRecording
internal import TraceRequest
internal import TraceSymbols
internal import TraceText

/// The options of `fathom record --mode flight`.
struct FlightOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "With --mode flight, keep that much of the newest, as 64M, 30s, or both (default: 64M). A time alone takes as much "
                + "memory as it needs, up to 1G.",
            valueName: "size|time"), transform: Kept.init(_:))
    var keep: [Kept] = []

    @Option(
        help: ArgumentHelp(
            """
            Save what is kept when a call takes longer: 'handle>200ms', or 'handle>p99*3', three times what 99 of 100 take; \
            or when it has these arguments: 'handle(path=="/slow", id>7)', or both: 'handle(path=="/slow")>200ms'.
            """,
            valueName: "func(argument==value)>limit"),
        transform: FlightCondition.init(_:))
    var when: [FlightCondition] = []

    @Option(
        help: ArgumentHelp(
            "Save when fathom record gets this signal, as USR1, which the program then does not get.",
            valueName: "signal"),
        transform: FlightOptions.signal)
    var saveOn: Int32?

    @Option(
        help: ArgumentHelp("Save so often at most (default: 20/hour).", valueName: "n/hour"),
        transform: FlightOptions.rate)
    var limitSaves: Int?

    /// What `--keep` takes.
    enum Kept {
        case bytes(UInt64)
        case nanoseconds(UInt64)

        init(_ text: String) throws {
            if let time = try? TimeSpan(argument: text) {
                self = .nanoseconds(time.nanoseconds)
            } else if let size = try? ByteCount(argument: text) {
                self = .bytes(size.bytes)
            } else {
                throw ValidationError("'\(text)' is neither a size, as 64M, nor a time, as 30s")
            }
        }
    }

    private static let hour = "/hour"

    /// The signals that can be waited for, and that mean nothing else to `fathom record`.
    private static func signal(_ text: String) throws -> Int32 {
        let name = text.uppercased().hasPrefix("SIG") ? text.uppercased() : "SIG" + text.uppercased()
        let allowed = ["SIGUSR1", "SIGUSR2", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGWINCH"]
        guard let number = (1...31).first(where: { signalName($0) == name }), allowed.contains(name) else {
            throw ValidationError("--save-on is one of \(allowed.map { $0.dropFirst(3) }.joined(separator: ", "))")
        }
        return Int32(number)
    }

    private static func rate(_ text: String) throws -> Int {
        let digits = text.hasSuffix(hour) ? String(text.dropLast(hour.count)) : text
        guard let number = Int(digits), number > 0 else {
            throw ValidationError("--limit-saves is a number of saves an hour, as 20/hour")
        }
        return number
    }

    /// Its options, and whether each is given.
    var given: [(String, Bool)] {
        [
            ("--keep", !keep.isEmpty), ("--when", !when.isEmpty), ("--save-on", saveOn != nil),
            ("--limit-saves", limitSaves != nil),
        ]
    }

    /// Says what does not go together.
    ///
    /// - Parameter bufferSize: in bytes; a ring has a limited number of buffers.
    func check(bufferSize: Int) throws {
        if conditions.count > FunctionCondition.countLimit {
            throw ValidationError("--when takes \(FunctionCondition.countLimit) conditions on arguments at most")
        }
        if longestText > FunctionOptions.textLimits.upperBound {
            throw ValidationError("--when compares texts of \(FunctionOptions.textLimits.upperBound) bytes at most")
        }
        #if !arch(x86_64)
            if !conditions.isEmpty { throw ValidationError("conditions on arguments work on x86-64 only") }
        #endif
        let sizes = keep.count { if case .bytes = $0 { true } else { false } }
        if sizes > 1 || keep.count - sizes > 1 { throw ValidationError("--keep takes one size and one time") }
        for case .bytes(let bytes) in keep where !RecordOptions.ringSizes.contains(bytes) {
            throw ValidationError("--keep takes sizes from 1M to 64G")
        }
        let most = RecordOptions.largestRing(bufferSize: bufferSize)
        for case .bytes(let bytes) in keep where bytes > most {
            var enough = bufferSize
            while RecordOptions.largestRing(bufferSize: enough) < bytes { enough *= 2 }
            let size = { (bytes: Int) in ByteCount(bytes: UInt64(bytes)) }
            throw ValidationError(
                "--keep takes at most \(size(Int(most))) with buffers of \(size(bufferSize)): "
                    + "add --buffer-size \(size(enough))")
        }
    }

    /// Those of `--when` that are on arguments.
    var conditions: [FunctionCondition] {
        when.filter { !$0.comparisons.isEmpty }.map { condition in
            let time = if case .time(let time) = condition.limit { time } else { UInt64(0) }
            return FunctionCondition(
                pattern: condition.pattern, comparisons: condition.comparisons, duration: time, text: condition.text)
        }
    }

    /// Bytes of the longest text that an argument is compared with.
    var longestText: UInt32 {
        UInt32(when.flatMap(\.comparisons).map(\.textSize).max() ?? 0)
    }

    /// Tells the recording what to keep.
    func apply(to options: inout RecordOptions) {
        for kept in keep {
            switch kept {
            case .bytes(let bytes): options.ringSize = bytes
            case .nanoseconds(let time):
                options.ringTime = time
                // The time alone decides, within reason.
                if keep.count == 1 {
                    options.ringSize = min(
                        RecordOptions.largestUnaskedRing, RecordOptions.largestRing(bufferSize: options.bufferSize))
                }
            }
        }
    }

    /// Says which functions of conditions are not in these modules.
    func warnings(_ modules: [ReportedFunctions]) -> [String] {
        let names = Set(modules.flatMap { $0.functions.map(\.name.visible) })
        return when.filter { condition in
            condition.comparisons.isEmpty && !names.contains { condition.function.matches($0) }
        }.map { condition in
            FunctionMatch.warning("--when", condition.function, names)
        }
    }

    /// - Parameter isQuiet: nothing is said of saves.
    func plan(isQuiet: Bool) -> FlightPlan {
        var plan = FlightPlan()
        plan.signal = saveOn
        if let limitSaves { plan.savesPerHour = limitSaves }
        if !when.isEmpty { plan.judge = ConditionJudge(when) }
        if !isQuiet { plan.onSave = { save in Diagnostics.say(SummaryText.line(for: save)) } }
        return plan
    }
}
