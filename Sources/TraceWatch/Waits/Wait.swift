/// What a thread waits for.
public struct Wait: Sendable, Equatable {
    /// In a word, as `mutex`, `read` or `sleep`.
    public var kind: String
    /// In words, with what is known of it.
    public var text: String
    /// The thread that has what it waits for, where the lock tells it.
    public var owner: UInt32?

    init(_ kind: String, _ text: String, owner: UInt32? = nil) {
        self.kind = kind
        self.text = text
        self.owner = owner
    }
}
