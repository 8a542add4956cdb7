/// What a session keeps of the calls.
public enum SessionContent: Sendable {
    /// Each of them.
    case calls
    /// What those of each path add up to.
    case paths
    /// How many there are of each path.
    case counts

    /// What the chunks of the first thread show that is not empty.
    init(of processes: [TracedProcess]) {
        let threads = processes.lazy.flatMap(\.threads)
        guard let thread = threads.first(where: { !$0.chunks.isEmpty }), thread.keepsPaths else {
            self = .calls
            return
        }
        self = thread.chunks[0].pathUnits?.keepsTimes == false ? .counts : .paths
    }
}
