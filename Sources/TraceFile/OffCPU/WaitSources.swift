/// How it was found out when threads waited, as `session.json` tells it.
public struct WaitSources: Sendable, Equatable {
    /// Whether the kernel told of each context switch.
    public var hasSwitches: Bool
    /// Why it did not, in words; nil when it did.
    public var refusal: String?
    /// Whether it told of each waking, too.
    public var hasWakings: Bool
    /// Why it did not, in words; nil when it did, or when nobody asked.
    public var wakingRefusal: String?
    /// Whether it is known, too, what threads waited for and what ended that.
    public var tellsCauses: Bool
    /// The CPUs on which the program could run at first; nil when that is not known.
    public var processors: Int?

    package init(
        hasSwitches: Bool, refusal: String?, hasWakings: Bool = false, wakingRefusal: String? = nil,
        tellsCauses: Bool = true,
        processors: Int?
    ) {
        self.hasSwitches = hasSwitches
        self.refusal = refusal
        self.hasWakings = hasWakings
        self.wakingRefusal = wakingRefusal
        self.tellsCauses = tellsCauses
        self.processors = processors
    }

    /// The CPUs on which this process, and what it starts, may run.
    package static func processorsHere() -> Int? {
        SystemFile.value(of: "Cpus_allowed", in: "/proc/self/status").map { mask in
            mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        }
    }

    /// Reads the member of the session's description; nil when nobody asked.
    init?(_ value: JSONValue?) {
        guard case .object(let members)? = value else { return nil }
        func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
        hasSwitches = member("context_switches")?.text == "true"
        if case .string(let text)? = member("refused") { refusal = text } else { refusal = nil }
        hasWakings = member("wakings")?.text == "true"
        if case .string(let text)? = member("wakings_refused") { wakingRefusal = text } else { wakingRefusal = nil }
        tellsCauses = member("causes")?.text != "false"
        processors = member("processors").flatMap { Int($0.text) }
    }

    /// The member of the session's description.
    var json: String {
        let reason = refusal.map { SessionDescription.quoted($0) } ?? "null"
        let wakings =
            hasWakings
            ? ", \"wakings\": true"
            : wakingRefusal.map { ", \"wakings\": false, \"wakings_refused\": " + SessionDescription.quoted($0) } ?? ""
        let known = processors.map { ", \"processors\": \($0)" } ?? ""
        let causes = tellsCauses ? "" : ", \"causes\": false"
        return "{\"context_switches\": \(hasSwitches), \"refused\": \(reason)\(wakings)\(causes)\(known)}"
    }
}
