/// What a recorded command took, all of its processes together, and what it took once more without the runtime.
public struct Baseline: Sendable, Equatable {
    /// CPU time.
    public struct Usage: Sendable, Equatable {
        public let userNanoseconds: UInt64
        public let systemNanoseconds: UInt64

        public var total: UInt64 { userNanoseconds &+ systemNanoseconds }

        package init(userNanoseconds: UInt64, systemNanoseconds: UInt64) {
            self.userNanoseconds = userNanoseconds
            self.systemNanoseconds = systemNanoseconds
        }
    }

    /// What the run that was recorded took.
    public let traced: Usage
    /// What the run without the runtime took: the median of `runs`.
    public let plain: Usage
    public let runs: UInt64

    package init(traced: Usage, plain: Usage, runs: UInt64) {
        self.traced = traced
        self.plain = plain
        self.runs = runs
    }

    /// Reads the member of the session's description; nil when it is missing or incomplete.
    init?(_ value: JSONValue?) {
        guard case .object(let members)? = value else { return nil }
        func number(_ name: String) -> UInt64? { members.first { $0.name == name }.flatMap { UInt64($0.value.text) } }
        guard let runs = number("runs"), let plainUser = number("plain_user_ns"),
            let plainSystem = number("plain_system_ns"), let tracedUser = number("traced_user_ns"),
            let tracedSystem = number("traced_system_ns")
        else { return nil }
        self.runs = runs
        plain = Usage(userNanoseconds: plainUser, systemNanoseconds: plainSystem)
        traced = Usage(userNanoseconds: tracedUser, systemNanoseconds: tracedSystem)
    }

    /// The member of the session's description.
    var json: String {
        """
        {
            "runs": \(runs),
            "plain_user_ns": \(plain.userNanoseconds),
            "plain_system_ns": \(plain.systemNanoseconds),
            "traced_user_ns": \(traced.userNanoseconds),
            "traced_system_ns": \(traced.systemNanoseconds)
          }
        """
    }
}
