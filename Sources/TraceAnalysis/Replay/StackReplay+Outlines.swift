internal import TraceFile

/// Replays without reading all chunks.
extension StackReplay {
    /// Does as ``run(_:clock:chunks:onChunk:into:)`` does, but tells what chunks have outlines for by these, where they have no call of
    /// `least` ns.
    static func run(
        _ thread: TracedThread, clock: Clock, by outlines: ChunkOutlines, least: UInt64,
        onChunk: ((Int) -> Void)? = nil,
        into sink: inout Sink
    ) {
        var replay = StackReplay(thread, clock: clock, from: 0, sink: &sink)
        defer { replay.free() }
        for index in thread.chunks.indices {
            if index + 1 < thread.chunks.count, let outline = outlines.outline(of: index, least: least),
                outline.canStand(least: least), replay.skip(chunk: index, outline, &sink)
            {
                onChunk?(index)
                if !replay.end(chunk: index, &sink) { return }
            } else if !replay.read(chunk: index, onChunk, &sink) {
                return
            }
        }
        replay.finish(&sink)
    }

    /// - Returns: false where the chunk is to be read, because the stack is not as it says.
    private mutating func skip(chunk index: Int, _ outline: ChunkOutline, _ sink: inout Sink) -> Bool {
        let chunk = thread.chunks[index]
        guard isContiguous, !isStopped, chunk.sequence == nextSequence, chunk.lane == stack.lane,
            Int(chunk.depth) == stack.depth, outline.ended.count <= stack.depth
        else { return false }
        begin(chunk: index, &sink)
        for call in outline.ended {
            sink.skip(calls: call.part.calls, time: call.part.callees, in: stack.top)
            sink.exit(stack.top, end: call.time, state: call.state)
            stack.top -= 1
        }
        sink.skip(calls: outline.inside.calls, time: outline.inside.callees, in: stack.top)
        for call in outline.begun {
            open(function: call.function, callSite: call.callSite, at: call.enterTicks, inherited: false, &sink)
            sink.skip(calls: call.part.calls, time: call.part.callees, in: stack.top)
        }
        lastTicks = thread.end(of: chunk, lastRecord: lastTicks)
        return true
    }
}
