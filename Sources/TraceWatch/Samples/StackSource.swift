/// Where the stacks of a process's threads come from.
protocol StackSource: AnyObject {
    /// The stacks of all threads now: addresses of functions, outermost first.
    ///
    /// - Returns: nil when the process has ended.
    func look() -> [(tid: UInt32, stack: [UInt64])]?

    /// Threads that were not to be looked at the last time.
    var missed: Int { get }
}
