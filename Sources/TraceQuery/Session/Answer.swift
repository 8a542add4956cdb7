public import TraceFile

/// What a question about sessions came to.
public struct Answer<Content> {
    public let content: Content
    /// What the recordings lack that were read for it, and what of the question matched nothing.
    public let warnings: [String]
    /// What is to be known of the content besides.
    public let notes: [String]
    /// Why the content is empty; nil when it is not.
    public let emptiness: QueryError?
    /// The sessions that were read. Some of them may still grow.
    public let sessions: [Session]

    public init(
        _ content: Content, notes: [String] = [], warnings: [String] = [], emptiness: QueryError? = nil,
        sessions: [Session] = []
    ) {
        self.content = content
        self.notes = notes
        self.warnings = warnings
        self.emptiness = emptiness
        self.sessions = sessions
    }
}
