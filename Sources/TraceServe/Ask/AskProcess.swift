internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// Fathom as a process of its own that answers a question: what it does wrong, or takes of memory, is not the server's.
struct AskProcess {
    /// How it went.
    enum Outcome: Equatable {
        case ended(status: Int32, output: [UInt8], errors: [UInt8])
        /// It was ended, because of what became of the turn.
        case given(up: AskTurn.State)
        case clientLeft
        case tooLarge
        case notStarted(errno: Int32)
    }

    /// The bytes of an answer that a page can do something with.
    static let mostOutput = 32 << 20
    private static let mostErrors = 1 << 16

    let program: String
    let arguments: [String]

    /// Runs it once it is the question's turn, and waits for its end.
    ///
    /// - Parameter client: the connection of who asks. When that is closed, the process ends.
    func run(_ turn: AskTurn, for client: Int32) -> Outcome {
        while true {
            switch turn.state {
            case .running: return runNow(turn, for: client)
            case .waiting: if AskProcess.poll([client], turn).contains(client) { return .clientLeft }
            case let state: return .given(up: state)
            }
        }
    }

    private func runNow(_ turn: AskTurn, for client: Int32) -> Outcome {
        var ends: [Int32] = [-1, -1, -1, -1]
        defer { for end in ends where end >= 0 { close(end) } }
        for pipe in [0, 2] {
            var pair: [Int32] = [-1, -1]
            if fathom_pipe(&pair) != 0 { return .notStarted(errno: errno) }
            ends.replaceSubrange(pipe..<pipe + 2, with: pair)
        }
        var child = ChildProgram(
            input: .nothing, output: .descriptor(ends[1]), errors: .descriptor(ends[3]), restoring: [SIGPIPE])
        child.blockedSignals = sigset_t()
        child.hasOwnGroup = true
        let process: pid_t
        do throws(SystemError) {
            process = try child.start(program, ["fathom"] + arguments)
        } catch {
            return .notStarted(errno: error.errno)
        }
        for end in [1, 3] {
            close(ends[end])
            ends[end] = -1
        }
        var output: [UInt8] = [], errors: [UInt8] = []
        var open: Set<Int32> = [ends[0], ends[2]]
        while !open.isEmpty {
            let ready = AskProcess.poll([client] + open, turn)
            let state = turn.state
            let isGone = ready.contains(client)
            if isGone || state != .running || output.count > AskProcess.mostOutput {
                AskProcess.end(process)
                return state != .running ? .given(up: state) : isGone ? .clientLeft : .tooLarge
            }
            for end in open.intersection(ready)
            where
                !(end == ends[0]
                ? AskProcess.read(end, into: &output)
                : AskProcess.read(end, into: &errors, most: AskProcess.mostErrors))
            {
                open.remove(end)
            }
        }
        let status = (try? ChildProgram.wait(for: process)) ?? -1
        return .ended(status: status, output: output, errors: errors)
    }

    /// Reads what is there; what is beyond `most` is forgotten.
    ///
    /// - Returns: whether there may be more.
    private static func read(_ end: Int32, into bytes: inout [UInt8], most: Int = .max) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { room in
            let count = Glibc.read(end, room.baseAddress, room.count)
            if count > 0 { bytes.append(contentsOf: room.prefix(min(count, most - min(most, bytes.count)))) }
            return count > 0 || count < 0 && errno == EINTR
        }
    }

    /// Waits until one of the descriptors can be read or the client at the first has left, or the turn's state has changed.
    ///
    /// - Returns: which.
    private static func poll(_ descriptors: [Int32], _ turn: AskTurn) -> Set<Int32> {
        var asked = descriptors.enumerated().map {
            pollfd(fd: $0.element, events: $0.offset == 0 ? Int16(FATHOM_POLL_HANGUP) : Int16(POLLIN), revents: 0)
        }
        asked.append(pollfd(fd: turn.wake, events: Int16(POLLIN), revents: 0))
        while Glibc.poll(&asked, nfds_t(asked.count), -1) < 0, errno == EINTR {}
        return Set(asked.dropLast().filter { $0.revents != 0 }.map(\.fd))
    }

    /// Has it end in good order, and after a second in any way.
    private static func end(_ process: pid_t) {
        kill(-process, SIGTERM)
        for _ in 0..<100 {
            if waitpid(process, nil, WNOHANG) != 0 { return }
            usleep(10_000)
        }
        kill(-process, SIGKILL)
        _ = try? ChildProgram.wait(for: process)
    }
}
