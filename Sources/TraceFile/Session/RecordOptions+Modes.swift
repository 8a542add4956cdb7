extension RecordOptions.Mode {
    /// What an option of `fathom record` goes with. Options that have no rule go with everything.
    private struct Rule: Sendable {
        /// As people write it.
        var option: String
        var modes: Set<RecordOptions.Mode>
        /// Whether a process that runs already can be recorded with it.
        var attaches = true
        /// What to do instead.
        var advice = ""
    }

    private static let records: Set<Self> = [.trace, .flight]
    private static let hooked: Set<Self> = [.trace, .flight, .profile, .counts, .stack]

    private static let rules = [
        Rule(option: "--first-calls", modes: [.trace, .firstCalls], attaches: false),
        Rule(option: "--module", modes: [.firstCalls]),
        Rule(option: "--max-paths", modes: [.profile, .counts, .stack]),
        Rule(option: "--interval", modes: [.stack]),
        Rule(option: "--keep", modes: [.flight]),
        Rule(option: "--when", modes: [.flight]),
        Rule(option: "--save-on", modes: [.flight]),
        Rule(option: "--limit-saves", modes: [.flight]),
        Rule(option: "--max-depth", modes: records),
        Rule(option: "--min-cost", modes: records),
        Rule(option: "naming functions", modes: records),
        Rule(option: "--max-size", modes: [.trace, .firstCalls], advice: "; flight has --keep"),
        Rule(option: "--compress", modes: [.trace], advice: ": the others write little"),
        Rule(option: "--budget", modes: [.trace]),
        Rule(option: "--baseline", modes: [.trace, .profile], attaches: false),
        Rule(option: "--blocked", modes: [.trace, .flight, .profile], attaches: false),
        Rule(option: "--libcalls", modes: hooked),
        Rule(option: "--any", modes: hooked),
        Rule(option: "--syscalls", modes: hooked),
        Rule(option: "--memory", modes: [.trace], attaches: false),
        Rule(option: "--faults", modes: [.trace], attaches: false),
        Rule(option: "--startup", modes: [.trace, .firstCalls], attaches: false),
        Rule(option: "--paused", modes: hooked, attaches: false),
        Rule(option: "--force", modes: hooked, attaches: false),
        Rule(
            option: "--history", modes: Set(allCases).subtracting([.flight]), attaches: false,
            advice: ": flight keeps no whole run"),
    ]

    /// Why `option` does not go with this mode, or not with attaching; nil when it does.
    public func refusal(of option: String, attaches: Bool) -> String? {
        guard let rule = Self.rules.first(where: { $0.option == option }) else { return nil }
        if attaches, !rule.attaches { return "\(option) is not for --attach" }
        if rule.modes.contains(self) { return nil }
        if self == .firstCalls { return "\(option) is not for --first-calls" }
        if rule.modes == [.firstCalls] { return "\(option) is for --first-calls" }
        let modes = Self.allCases.filter { rule.modes.contains($0) && $0 != .firstCalls }
        let names = modes.dropLast().map(\.rawValue).joined(separator: ", ")
        return "\(option) is for --mode \(names.isEmpty ? "" : names + " and ")\(modes.last!.rawValue)\(rule.advice)"
    }
}
