internal import TraceQuery

extension Answer {
    /// Says what there is to be known of it.
    ///
    /// - Throws: why it is empty, if it is.
    func say() throws {
        notes.forEach(Diagnostics.say)
        Diagnostics.warn(warnings, of: sessions)
        if let emptiness { throw emptiness }
    }
}
