/// One thing that a machine allows, or does not.
public struct Finding: Sendable, Equatable {
    public enum State: String, Sendable {
        case ok
        /// It works, but less well, or something beside Fathom does not.
        case limited
        /// It keeps Fathom from recording or building.
        case no
    }

    /// What it is about, in one word.
    public var subject: String
    public var state: State
    /// What is so, and what that means.
    public var text: String
    /// How to change it; nil when nothing is to be changed.
    public var remedy: String?

    init(_ subject: String, _ state: State, _ text: String, remedy: String? = nil) {
        self.subject = subject
        self.state = state
        self.text = text
        self.remedy = remedy
    }
}
