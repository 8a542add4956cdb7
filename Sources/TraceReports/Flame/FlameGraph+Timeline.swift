internal import TraceAnalysis
internal import TraceFile
internal import TracePage
internal import TraceText

/// The page of a chart: a timeline of its calls, and panes with what they add up to.
extension FlameGraph {
    private typealias Entry = FrozenTile.Entry

    /// - Parameter room: bytes that the page may have, or little more. Where that is too little, short calls are summed.
    /// - Complexity: O(frames), for each level of the page's timeline.
    func content(of timeline: FlameTimeline, room: Int) -> FrozenContent {
        let rows = rowsOfTracks(timeline)
        var content = FrozenContent(session: sessionDocument(timeline, rows))
        content.names = namesDocument
        content.events = eventsDocument(timeline)
        content.waits = waitsDocument(timeline)
        let before = Array("{\"said\":[],\"answer\":".utf8)
        for (command, answer) in panes { content.add([command], answer: before + answer + Array("}".utf8)) }
        let waits = waitsOfTracks(timeline)
        let left = max(room - content.sizeOfAnswers - content.events!.count - content.waits!.count, room / 4)
        content.timeline = FrozenTimeline(
            calls: UInt64(frames.count), room: left, time: timeline.origin..<timeline.origin &+ max(total, 1)
        ) { time, level, most in
            var tile = FrozenTile(from: time.lowerBound, unit: level.unit)
            for (track, rows) in rows.enumerated() {
                let told = rows.prefix(most ?? .max).map {
                    FlameGraph.entries(of: $0, in: time, step: level.step)
                }
                guard told.contains(where: { !$0.isEmpty }) else { continue }
                tile.add(
                    track: track, rows: told,
                    waits: waits[track].map {
                        (FlameGraph.columns(of: $0.blocked, in: time), FlameGraph.columns(of: $0.wanting, in: time))
                    })
            }
            return tile
        }
        return content
    }

    // MARK: Calls

    /// The calls of each track by row. In a damaged recording, time may go back: there a call begins where the one before ends.
    private func rowsOfTracks(_ timeline: FlameTimeline) -> [[[Entry]]] {
        var rows = [[[Entry]]](repeating: [], count: timeline.tracks.count)
        var track = 0
        let above = timeline.bands.isEmpty ? 0 : 1
        for frame in frames {
            if let band = band(of: frame) {
                track = band
                continue
            }
            let row = Int(frame.depth) - above
            while rows[track].count <= row { rows[track].append([]) }
            let start = timeline.origin &+ frame.start, begin = max(start, rows[track][row].last?.end ?? 0)
            let end = max(start &+ frame.total, begin)
            rows[track][row].append(
                Entry(
                    begin: begin, end: end, busy: end - begin, function: UInt32(numbers[Int(frame.function)]),
                    calls: UInt32(clamping: frame.calls))
            )
        }
        return rows
    }

    /// What a row has in a piece of time. Calls that are shorter than a step are told together where they begin in the same one.
    private static func entries(of row: [Entry], in time: Range<UInt64>, step: UInt64) -> [Entry] {
        var told: [Entry] = []
        /// The longest call of the run that comes last; nil where no run does.
        var longest: UInt64?
        let first = row.partitioningIndex { $0.end > time.lowerBound || $0.begin >= time.lowerBound }
        for entry in row[first...] {
            guard entry.begin < time.upperBound else { break }
            let length = entry.end - entry.begin
            if length >= step || step <= 1 {
                told.append(entry)
                longest = nil
                continue
            }
            // It is told in the piece in which it begins.
            if entry.begin < time.lowerBound { continue }
            guard let most = longest, let last = told.last, last.begin / step == entry.begin / step else {
                told.append(entry)
                longest = length
                continue
            }
            told[told.count - 1] = Entry(
                begin: last.begin, end: entry.end, busy: last.busy + length,
                function: length > most ? entry.function : last.function, calls: last.calls + 1)
            longest = max(most, length)
        }
        return told
    }

    // MARK: Waits

    /// When each track was blocked, and when it wanted a CPU; nil where it is not known to have waited.
    private func waitsOfTracks(
        _ timeline: FlameTimeline
    ) -> [(blocked: [Range<UInt64>], wanting: [Range<UInt64>])?] {
        let known = waitingStretches
        func moved(_ stretch: Range<UInt64>) -> Range<UInt64> {
            timeline.origin &+ stretch.lowerBound..<timeline.origin &+ stretch.upperBound
        }
        return timeline.tracks.indices.map { track in
            let states = timeline.bands.isEmpty ? [] : timeline.bands[track].states
            func of(_ wantsCPU: Bool) -> [Range<UInt64>] {
                states.filter { $0.wantsCPU == wantsCPU }.map { moved($0.begin..<$0.begin &+ $0.length) }
            }
            if !states.isEmpty { return (of(false), of(true)) }
            return known[timeline.bands.isEmpty ? -1 : track].map { ($0.map(moved), []) }
        }
    }

    /// Of each column of a piece of time, which part of it lies in some stretches, 255 for all.
    private static func columns(of stretches: [Range<UInt64>], in time: Range<UInt64>) -> [UInt8] {
        let step = Double(time.upperBound - time.lowerBound) / Double(FrozenTile.columns)
        var parts = [Double](repeating: 0, count: FrozenTile.columns)
        for stretch in stretches[stretches.partitioningIndex { $0.upperBound > time.lowerBound }...] {
            guard stretch.lowerBound < time.upperBound else { break }
            let begin = Double(max(stretch.lowerBound, time.lowerBound) - time.lowerBound) / step
            let end = Double(min(stretch.upperBound, time.upperBound) - time.lowerBound) / step
            for column in Int(begin)..<min(Int(end.rounded(.up)), parts.count) {
                parts[column] += min(end, Double(column + 1)) - max(begin, Double(column))
            }
        }
        return parts.map { UInt8(min($0, 1) * 255) }
    }

    /// Waits that a page tells, the longest.
    private static let mostWaits = 50_000

    private func waitsDocument(_ timeline: FlameTimeline) -> [UInt8] {
        let waits = timeline.bands.enumerated().flatMap { track, band in
            band.states.reduce(into: [FrozenWaits.Wait]()) { waits, state in
                guard let text = state.text else { return }
                let begin = timeline.origin &+ state.begin, end = begin &+ state.length
                let moment = state.waker.map { timeline.origin &+ $0.moment }
                // A thread may wake to nothing, and wait on.
                if let moment, let last = waits.last, last.subject == text, last.waker?.moment == moment {
                    waits[waits.count - 1].end = end
                    return
                }
                waits.append(
                    FrozenWaits.Wait(
                        track: track, begin: begin, end: end, subject: text,
                        waker: state.waker.map { ($0.band, timeline.origin &+ $0.moment, $0.path) }))
            }
        }
        return FrozenWaits.bytes(of: waits, tracks: timeline.tracks.count, most: FlameGraph.mostWaits)
    }

    // MARK: What the page asks for

    private func sessionDocument(_ timeline: FlameTimeline, _ rows: [[[Entry]]]) -> [UInt8] {
        var processes: [TracedProcess] = []
        for track in timeline.tracks where !processes.contains(where: { $0 === track.thread.process }) {
            processes.append(track.thread.process)
        }
        return ByteWriter.bytes { bytes in
            let json = JSONWriter(bytes)
            json.object {
                json.field("version", 1)
                json.field("session", options.title)
                json.field("command", [String]())
                json.field("began", [options.began / 1_000_000_000, options.began % 1_000_000_000])
                json.field("begin", timeline.origin)
                json.field("end", timeline.origin &+ max(total, 1))
                json.field("content", "calls")
                json.field("colour", colouring.rawValue)
                json.field("panes", panes.map(\.command))
                for name: StaticString in ["splits", "waits"] {
                    json.field(name, timeline.bands.contains { !$0.states.isEmpty })
                }
                for name: StaticString in ["isRecording", "memory", "faults"] { json.field(name, false) }
                json.objects("processes", processes) { process in
                    json.field("pid", process.pid)
                    json.field("name", process.programName)
                    json.field("command", process.calledName ?? process.programName)
                }
                json.objects("tracks", zip(timeline.tracks, rows)) { track, rows in
                    let thread = track.thread
                    json.field("process", processes.firstIndex { $0 === thread.process })
                    json.field("tid", thread.task ?? thread.tid)
                    json.field("kind", thread.task == nil ? "thread" : "task")
                    json.field("name", thread.name)
                    json.field("label", track.name)
                    json.field("begin", rows.first?.first?.begin ?? timeline.origin)
                    json.field("end", rows.first?.last?.end ?? timeline.origin)
                    json.field("calls", rows.joined().reduce(0) { $0 + Int($1.calls) })
                    json.field("depth", rows.count)
                }
            }
        }
    }

    private var namesDocument: [UInt8] {
        let resolved = functions.map { names[$0] }
        return ByteWriter.bytes { bytes in
            let json = JSONWriter(bytes)
            json.object {
                json.field("names", resolved.map(\.name))
                json.array("modules", resolved) { json.value($0.module) }
                json.array("files", resolved) { json.value($0.file) }
                json.field("lines", resolved.map { max($0.line, 0) })
            }
        }
    }

    private func eventsDocument(_ timeline: FlameTimeline) -> [UInt8] {
        ByteWriter.bytes { bytes in
            let json = JSONWriter(bytes)
            func pair(_ moment: UInt64, _ what: some JSONWritable) {
                json.array {
                    json.value(timeline.origin &+ moment)
                    json.value(what)
                }
            }
            json.object {
                json.objects("tracks", timeline.bands) { band in
                    let blocked = band.states.reduce(0) { $0 &+ ($1.wantsCPU ? 0 : $1.length) }
                    json.field("blocked", band.states.isEmpty ? nil : blocked)
                    json.array("marks", band.marks) { pair($0.moment, $0.name) }
                    json.objects("counters", band.counters) { counter in
                        json.field("name", counter.name)
                        json.array("points", counter.points) { pair($0.moment, $0.value) }
                    }
                }
            }
        }
    }
}
