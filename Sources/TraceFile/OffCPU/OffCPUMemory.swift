internal import Synchronization

/// When threads of a session had no CPU, where only all their records tell: what was found once is not looked for again.
///
/// Several threads may ask at once.
package final class OffCPUMemory: Sendable {
    package typealias Known = [TracedThread.Key: [SwitchLog.Stretch]]

    /// Who keeps it beside the session.
    package struct Keeper: Sendable {
        let read: @Sendable () -> Known
        let keep: @Sendable (Known) -> Void

        /// - Parameters:
        ///   - read: is called once, when the first thread is asked for.
        ///   - keep: is called whenever one more thread is known.
        package init(read: @escaping @Sendable () -> Known, keep: @escaping @Sendable (Known) -> Void) {
            (self.read, self.keep) = (read, keep)
        }
    }

    private struct State: Sendable {
        var known: Known = [:]
        var keeper: Keeper?
        var isRead = false
    }

    private let state = Mutex(State())

    package func use(_ keeper: Keeper) { state.withLock { $0.keeper = keeper } }

    /// The stretches of a whole thread, of which `thread` may be a part; nil while they are not known.
    func stretches(of thread: TracedThread) -> [SwitchLog.Stretch]? {
        state.withLock { state in
            if !state.isRead, let keeper = state.keeper {
                state.isRead = true
                state.known.merge(keeper.read()) { own, _ in own }
            }
            return state.known[thread.key]
        }
    }

    func put(_ stretches: [SwitchLog.Stretch], of thread: TracedThread) {
        state.withLock { state in
            state.known[thread.key] = stretches
            state.keeper?.keep(state.known)
        }
    }
}
