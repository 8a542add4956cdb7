/// How it was found out when threads waited, as `session.json` tells it.
public struct WaitSources: Sendable, Equatable {
    /// Whether the kernel told of each context switch.
    public var hasSwitches: Bool
    /// Why it did not, in words; nil when it did.
    public var refusal: String?

    package init(hasSwitches: Bool, refusal: String?) {
        self.hasSwitches = hasSwitches
        self.refusal = refusal
    }

    /// Reads the member of the session's description; nil when nobody asked.
    init?(_ value: JSONValue?) {
        guard case .object(let members)? = value else { return nil }
        func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
        hasSwitches = member("context_switches")?.text == "true"
        if case .string(let text)? = member("refused") { refusal = text } else { refusal = nil }
    }

    /// The member of the session's description.
    var json: String {
        let reason = refusal.map { SessionDescription.quoted($0) } ?? "null"
        return "{\"context_switches\": \(hasSwitches), \"refused\": \(reason)}"
    }
}
