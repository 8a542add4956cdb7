internal import TraceFile

/// What works beside the drain, by mode: who looks at the program's stacks, or who saves what the ring holds.
struct ModeWork: Sendable {
    let sampler: StackSampler?
    let flight: FlightRecorder?

    init(
        _ request: RecordingRequest, _ description: SessionDescription, _ buffers: SharedBuffers,
        in directory: SessionDirectory, _ clock: SessionClock
    ) throws(RecordingError) {
        do throws(TraceFileError) {
            sampler = request.record.mode == .stack ? try StackSampler(directory.path, clock, request.record) : nil
        } catch {
            throw .unreadable(error)
        }
        flight =
            request.record.mode == .flight
            ? FlightRecorder(
                buffers, in: directory, named: request.session, description: description, clock: clock,
                plan: request.flight) : nil
    }

    /// Is called whenever the drain has looked at the buffers, and by its thread.
    func look(_ drain: Drain) {
        flight?.look { drain.losses }
        if let sampler { drain.withLog(sampler.write) }
    }

    /// Writes and saves what is left. The sampler has been stopped, and the program records no more.
    ///
    /// - Parameter reason: why what the ring holds is saved, whatever else is asked for; nil where nothing is.
    func finish(
        _ drain: Drain, _ log: TraceLogWriter, saving reason: String?, into summary: inout RecordingSummary
    ) {
        sampler?.write(to: log)
        sampler?.summarize(into: &summary)
        flight?.look(isLast: true) { drain.losses }
        if let reason { flight?.finish(reason, losses: drain.losses) }
        flight?.summarize(into: &summary)
    }

    /// Whether the ring is all that there is: a save failed.
    var keepsRing: Bool { flight.map { !$0.isSettled } ?? false }
}
