/// A program that runs already and can be made to record.
public protocol RunningProgram: AnyObject {
    var pid: Int32 { get }

    /// Lets it record into a session.
    ///
    /// - Parameter session: the absolute path of the directory.
    func begin(_ session: String) throws(RecordingError)

    /// Is called again and again while it records. False when it has ended.
    func look() -> Bool

    /// Lets it record no more. Returns what is to be said of that.
    ///
    /// - Parameter children: the processes that it has forked and that record, too.
    func end(children: [Int32]) -> [String]
}
