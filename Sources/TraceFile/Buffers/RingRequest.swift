internal import CTraceFormat

/// A call that took long, or had arguments that are asked for, of which a process has told, so that what the ring holds may be saved.
package struct RingRequest: Equatable {
    /// The process's index, and the thread's serial number there.
    package var process: UInt32
    package var thread: UInt32
    /// The address of the function.
    package var function: UInt64
    /// When the call ended, and how long it took. In ticks.
    package var endTicks: UInt64
    package var durationTicks: UInt64
    /// The conditions on arguments that it fulfils, a bit for each; 0: it took long.
    package var conditions: UInt32

    /// Why what is kept of a ring does not hold all of the call; nil if it does.
    ///
    /// - Parameter chunks: of the whole ring, in any order.
    package func shortcoming(in chunks: [Chunk]) -> String? {
        let begin = endTicks &- durationTicks
        let own = chunks.filter { $0.kind == .records && $0.process == process && $0.thread == thread }
            .sorted { $0.sequence < $1.sequence }
        guard let first = own.first, let last = own.last, last.endTicks == 0 || last.endTicks >= endTicks else {
            return "it was written over"
        }
        // What was open when a cut chunk began is in its path alone.
        if first.isCut ? first.beginTicks >= begin : first.beginTicks > begin { return "its beginning is not kept" }
        let within = own.filter { begin < $0.beginTicks && $0.beginTicks <= endTicks }
        return within.contains { $0.lostCalls > 0 } ? "calls within it were lost" : nil
    }
}

extension SharedBuffers {
    /// Returns the requests from number `known` on, oldest first, and sets `known` to the number of the next one.
    ///
    /// - Returns: The requests that are whole, and how many others there were: those that newer ones were written over.
    package func requests(from known: inout UInt32) -> (requests: [RingRequest], missed: UInt32) {
        let count = fathom_load32(&header.pointee.request_count)
        // A program that has written over the count makes a few requests look new, and nothing worse.
        let new = min(count &- known, FATHOM_RING_REQUEST_LIMIT)
        var missed = count &- known &- new
        var requests: [RingRequest] = []
        let places = UnsafeMutableRawPointer(header) + Int(fathom_requests_offset(UInt32(wordsOffset)))
        for number in (0..<new).map({ count &- new &+ $0 }) {
            let place =
                (places.assumingMemoryBound(to: fathom_ring_request.self)) + Int(number % FATHOM_RING_REQUEST_LIMIT)
            guard fathom_load32(&place.pointee.number) == number &+ 1 else {
                missed += 1
                continue
            }
            let request = place.pointee
            fathom_load_fence()
            guard fathom_load32(&place.pointee.number) == number &+ 1 else {
                missed += 1
                continue
            }
            requests.append(
                RingRequest(
                    process: request.process, thread: request.thread, function: request.call.function,
                    endTicks: request.call.end, durationTicks: request.call.duration,
                    conditions: request.conditions))
        }
        known = count
        return (requests, missed)
    }

    /// How often programs have asked for a save, modulo 2^32.
    package var wishes: UInt32 { fathom_load32(&header.pointee.save_count) }

    /// How often `fathom ctl` has asked for a save, modulo 2^32.
    package var saveCommands: UInt32 {
        let start = UnsafeMutableRawPointer(header) + Int(fathom_steering_offset(UInt32(slotsOffset)))
        return fathom_load32(&start.assumingMemoryBound(to: fathom_steering.self).pointee.save_count)
    }

    /// Keeps programs from writing over the ring while it is copied. They use other slots meanwhile, up to as many again.
    package func holdRing() { fathom_store32(&header.pointee.ring_held, 1) }

    /// Ends that, once. So that the ring stays as large as it was, the slots of the oldest chunks are set aside for the next
    /// time.
    ///
    /// - Complexity: O(slots · log slots).
    package func releaseRing() {
        guard fathom_swap32(&header.pointee.ring_held, 1, 0) != 0 else { return }
        let full = slots(in: FATHOM_SLOT_FULL).filter { UInt32($0.header.kind) == FATHOM_CHUNK_RECORDS }
        let surplus = full.count + slots(in: FATHOM_SLOT_OWNED).count - Int(header.pointee.ring_slots)
        guard surplus > 0 else { return }
        for slot in full.sorted(by: { $0.header.end_ticks < $1.header.end_ticks }).prefix(surplus) { setAside(slot) }
    }

    /// Makes the recorder look, if it sleeps. Any thread may call it.
    package func wakeRecorder() {
        fathom_store32(&header.pointee.recorder_waits, 0)
        fathom_wake32(&header.pointee.recorder_waits)
    }

    /// From how many ticks on processes tell of calls that have ended.
    package func announce(longTicks: UInt64) { header.pointee.long_ticks = longTicks }
}
