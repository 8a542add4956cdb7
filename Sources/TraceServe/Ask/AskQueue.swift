internal import CTraceFormat
internal import Glibc
internal import Synchronization

/// A question's turn to be answered.
final class AskTurn: Sendable {
    enum State: Sendable { case waiting, running, superseded, stopped }

    /// Can be read when the state has changed since it was asked for last.
    let wake = fathom_wake_descriptor()
    fileprivate let key: String?
    private let current = Mutex(State.waiting)

    fileprivate init(key: String?) { self.key = key }

    deinit { close(wake) }

    var state: State {
        var count: UInt64 = 0
        _ = read(wake, &count, 8)
        return current.withLock { $0 }
    }

    fileprivate func set(_ state: State) {
        current.withLock { $0 = state }
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
    }
}

/// The questions that are being answered, and those that wait until some are: each reads a recording by all processors.
final class AskQueue: Sendable {
    private struct Turns {
        var running: [AskTurn] = []
        var waiting: [AskTurn] = []
        var isStopped = false
    }

    private let turns = Mutex(Turns())
    private let most: Int

    /// - Parameter most: how many are answered at once.
    init(most: Int) { self.most = most }

    /// Asks for a turn. A question with the same key that is not answered yet is not going to be.
    func enter(key: String?) -> AskTurn {
        let turn = AskTurn(key: key)
        turns.withLock { turns in
            if turns.isStopped { return turn.set(.stopped) }
            if let key {
                for older in turns.running + turns.waiting where older.key == key { older.set(.superseded) }
                turns.waiting.removeAll { $0.key == key }
            }
            turns.waiting.append(turn)
            grant(&turns)
        }
        return turn
    }

    /// Ends a turn, whatever has become of it.
    func leave(_ turn: AskTurn) {
        turns.withLock { turns in
            turns.running.removeAll { $0 === turn }
            turns.waiting.removeAll { $0 === turn }
            grant(&turns)
        }
    }

    /// Nobody gets an answer any more.
    func stop() {
        turns.withLock { turns in
            turns.isStopped = true
            for turn in turns.running + turns.waiting { turn.set(.stopped) }
            turns.waiting = []
        }
    }

    private func grant(_ turns: inout Turns) {
        while turns.running.count < most, !turns.waiting.isEmpty {
            let next = turns.waiting.removeFirst()
            turns.running.append(next)
            next.set(.running)
        }
    }
}
