internal import CTraceFormat
internal import TraceFile

/// Looks at an interval at which call path every thread is in. Threads show that by one word each in the buffers, so
/// nothing is sent to them, and nothing stops them. What is found is added up in the buffers, too, so that it survives
/// whoever is killed.
///
/// The drain's thread does this, because a slot that it has freed may be another thread's a moment later.
final class StackSampler: @unchecked Sendable {
    /// A thread of a process, as far as one process's hooks go on without starting over.
    private struct Key: Hashable {
        let process: UInt32, thread: UInt32, tree: UInt32
    }

    private struct Thread {
        /// Its chunks in the order of their numbers.
        var parts: [SharedBuffers.PathPart] = []
        /// The chunk that the last path was found in.
        var last = 0

        /// - Returns: Whether the path that the thread is in is known.
        mutating func sample(_ elapsed: UInt64, at now: UInt64) -> Bool {
            guard let path = parts[0].current else { return true }
            if !parts[last].holds(path) {
                guard let found = parts.lastIndex(where: { $0.holds(path) }) else { return false }
                last = found
            }
            parts[last].add(elapsed, at: now, to: path)
            return true
        }
    }

    private let buffers: SharedBuffers
    private let clock: SessionClock
    private var threads: [Key: Thread] = [:]
    private var before: UInt64
    /// When the slots are looked through for new threads and paths, though none was missed. Ticks.
    private var due: UInt64 = 0

    init(_ buffers: SharedBuffers, clock: SessionClock) {
        self.buffers = buffers
        self.clock = clock
        before = clock.now
    }

    /// Takes a sample of each thread. It stands for the time since the last one.
    ///
    /// - Complexity: O(threads).
    func look() {
        let now = clock.now, elapsed = now - min(before, now)
        before = now
        if now >= due { refresh(now) }
        var missesPath = false
        for key in threads.keys {
            if threads[key]?.sample(elapsed, at: now) == false { missesPath = true }
        }
        // What could not be found now will be found by the next look.
        if missesPath { due = 0 }
    }

    /// Finds the threads, and the chunks of their paths.
    private func refresh(_ now: UInt64) {
        due = now + clock.ticksPerSecond / 50
        var found: [Key: Thread] = [:]
        for part in buffers.pathParts() {
            found[Key(process: part.process, thread: part.thread, tree: part.tree), default: Thread()].parts.append(part)
        }
        for (key, var thread) in found {
            thread.parts.sort { $0.first < $1.first }
            found[key] = thread.parts[0].first == 0 ? thread : nil
        }
        threads = found
    }
}
