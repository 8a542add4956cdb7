public import TraceFile

/// Looks whether the chunks of a session are as they were written, on all cores.
///
/// Opening a session reads headers alone, and a damaged payload shows only when it is read. A view that is to tell of
/// all damage, but reads no payloads itself, runs this.
public enum PayloadCheck {
    /// Chunks that one worker takes at a time: about 16 MB of the log.
    private static let stretch = 256

    /// Adds what is found to the session's damage, in the order of processes, threads and chunks.
    ///
    /// - Complexity: O(bytes of the log), at memory speed over all cores.
    public static func run(_ session: Session, workers: Int = 0) {
        let jobs = session.processes.flatMap(\.threads).flatMap { thread in
            stride(from: 0, to: thread.chunks.count, by: stretch).map { start in
                let damage = DamageLog()
                let part = thread.part(start..<min(start + stretch, thread.chunks.count), damage: damage)
                return (thread: thread, part: part, damage: damage)
            }
        }
        let pool = WorkerPool(jobs: jobs.count) { job, _ in
            let part = jobs[job].part
            for chunk in part.chunks.indices {
                _ = part.payloadIsIntact(ofChunk: chunk)
                part.release(chunk: chunk)
            }
        }
        pool.run(workers: min(workers > 0 ? workers : WorkerPool.processors, jobs.count))
        for job in jobs { job.thread.report(job.damage) }
    }
}
