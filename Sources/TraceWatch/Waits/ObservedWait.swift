/// What a thread waits for.
public struct ObservedWait: Sendable, Equatable {
    /// In a word, as `mutex`, `read` or `sleep`.
    public var kind: String
    /// In words, with what is known of it.
    public var text: String
    /// The thread that has what it waits for, where the lock tells it.
    public var owner: UInt32?
    /// Of a mutex that the kernel refuses to the thread: those that it may be, by their addresses, with their owners.
    var refused: [UInt64: UInt32]?
    /// A thread that waits for this one, if through others, one of which has what this one waits for.
    var closes: UInt32?

    init(_ kind: String, _ text: String, owner: UInt32? = nil) {
        self.kind = kind
        self.text = text
        self.owner = owner
    }
}
