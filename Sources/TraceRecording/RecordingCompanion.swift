/// Looks at a program while it is recorded.
public protocol RecordingCompanion: AnyObject, Sendable {
    /// Begins, when the program has been started.
    ///
    /// - Parameters:
    ///   - session: the absolute path of the directory that it is recorded into.
    ///   - pid: the program's process.
    func start(_ session: String, _ pid: Int32)

    /// Ends, when the program has ended. When this returns, the companion has no thread any more.
    func stop(_ status: TargetStatus)
}
