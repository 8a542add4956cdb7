/// What a recorded program took of the processors, together with the processes that it started and waited for. The hooks' part is in it.
public struct ProgramUsage: Sendable, Equatable {
    /// CPU time.
    public let processor: Baseline.Usage
    /// Instructions, without the kernel's; nil where nothing counted them.
    public let instructions: UInt64?

    package init(processor: Baseline.Usage, instructions: UInt64?) {
        self.processor = processor
        self.instructions = instructions
    }

    /// Reads the member of the session's description; nil when it is missing or incomplete.
    init?(_ value: JSONValue?) {
        guard case .object(let members)? = value else { return nil }
        func number(_ name: String) -> UInt64? { members.first { $0.name == name }.flatMap { UInt64($0.value.text) } }
        guard let user = number("user_ns"), let system = number("system_ns") else { return nil }
        processor = Baseline.Usage(userNanoseconds: user, systemNanoseconds: system)
        instructions = number("instructions")
    }

    /// The member of the session's description.
    var json: String {
        "{ \"user_ns\": \(processor.userNanoseconds), \"system_ns\": \(processor.systemNanoseconds)"
            + (instructions.map { ", \"instructions\": \($0)" } ?? "") + " }"
    }
}
