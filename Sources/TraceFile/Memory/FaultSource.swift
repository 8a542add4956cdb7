/// Whether the kernel told of page faults, as `session.json` says it.
public struct FaultSource: Sendable, Equatable {
    public var isTold: Bool
    /// Whether it also told of those that it had itself in the program's memory, within system calls.
    public var seesSystemCalls: Bool
    /// Why it did not tell, in words; nil when it did.
    public var refusal: String?

    package init(isTold: Bool, seesSystemCalls: Bool, refusal: String?) {
        self.isTold = isTold
        self.seesSystemCalls = seesSystemCalls
        self.refusal = refusal
    }

    /// Reads the member of the session's description; nil when nobody asked.
    init?(_ value: JSONValue?) {
        guard case .object(let members)? = value else { return nil }
        func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
        isTold = member("told")?.text == "true"
        seesSystemCalls = member("in_system_calls")?.text == "true"
        if case .string(let text)? = member("refused") { refusal = text } else { refusal = nil }
    }

    /// The member of the session's description.
    var json: String {
        let reason = refusal.map { SessionDescription.quoted($0) } ?? "null"
        return "{\"told\": \(isTold), \"in_system_calls\": \(seesSystemCalls), \"refused\": \(reason)}"
    }
}
