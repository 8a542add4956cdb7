internal import TraceAnalysis
public import TracePage
public import TraceText

extension FlameGraph {
    /// Writes a page that needs nothing but itself: styles, script and data are inside. Its content security policy
    /// (https://www.w3.org/TR/CSP3) lets it load nothing, and run no script but its own.
    ///
    /// - Parameter room: bytes that the page of a chart may have, or little more.
    public func writeHTML(to writer: ByteWriter, room: Int = FrozenContent.usualSize) {
        ViewPage.write(
            title: options.title, to: writer, content: timeline.map { content(of: $0, room: room) } ?? contentOfGraph)
    }

    private var contentOfGraph: FrozenContent {
        let session = ByteWriter.bytes { bytes in
            let json = JSONWriter(bytes)
            json.object {
                json.field("version", 1)
                json.field("session", options.title)
                json.field("command", [String]())
                json.field("content", "graph")
                json.field("begin", 0)
                json.field("end", max(total, 1))
                for name: StaticString in ["isRecording", "splits", "waits", "memory", "faults"] {
                    json.field(name, false)
                }
                for name: StaticString in ["processes", "tracks"] { json.field(name, [String]()) }
            }
        }
        var content = FrozenContent(session: session)
        let answer = ByteWriter.bytes { bytes in
            let json = JSONWriter(bytes, isEmbedded: true)
            json.object {
                json.field("said", [String]())
                json.name("answer")
                writeData(to: json)
            }
        }
        content.add(["flame"], embedded: answer)
        return content
    }

    /// Writes what it shows, as JSON.
    public func writeJSON(to writer: ByteWriter) {
        writeData(to: JSONWriter(writer))
        writer.write("\n" as StaticString)
    }

    /// Writes the data, which `data.js` reads of a graph.
    private func writeData(to json: JSONWriter) {
        json.object {
            json.field("inverted", options.isInverted)
            json.field("colour", isDifferential ? "change" : colouring.rawValue)
            json.field("total", total)
            if let wall { json.field("wall", wall) }
            if names.countsSamples { json.field("samples", true) }
            switch options.unit {
            case .time: break
            case .bytes: json.field("bytes", true)
            case .faults: json.field("faults", true)
            }
            json.line().array("names", functions) { json.value(names[$0].name) }
            json.line().array("labels", functions) { function in
                let name = names[function].name
                let label = FlameLabel.folded(name)
                if label == name { json.value(0) } else { json.value(label) }
            }
            json.line().array("lines", functions) { function in
                let place = names[function]
                json.value(place.file == nil ? 0 : max(place.line, 0))
            }
            json.line().field("shades", shades)
            json.line().field("noFile", FlameGroups.noFile)
            json.line().object("groups") {
                for (index, grouping) in Colouring.groupings.enumerated() {
                    guard let groups = groups[grouping] else { continue }
                    if index > 0 { json.line() }
                    json.name(of: grouping.rawValue)
                    json.object {
                        json.field("names", groups.names)
                        json.field("of", groups.of)
                    }
                }
            }
            json.line().field("ownTimeSteps", ownTimeSteps)
            json.line().object("palette") {
                let groupCount = groups.values.map(\.names.count).max() ?? 0
                json.object("light") { FlamePalette.write(isDark: false, groups: groupCount, to: json) }
                json.line().object("dark") { FlamePalette.write(isDark: true, groups: groupCount, to: json) }
            }
            if let timeline { write(timeline, json) }
            json.line().array("frames", frames) { frame in
                if frame.function < numbers.count {
                    json.value(numbers[Int(frame.function)])
                } else {
                    json.value(-(band(of: frame).map { 3 + $0 } ?? 1))
                }
                for number in [UInt64(frame.depth), frame.calls, frame.start, frame.total, frame.selfTime] {
                    json.value(number)
                }
            }
            writeWaits(json)
            if isDifferential { writeChanges(json) }
        }
    }

    private func write(_ timeline: FlameTimeline, _ json: JSONWriter) {
        var texts: [String] = []
        var numbers: [String: Int] = [:]
        func number(_ text: String?) -> Int {
            guard let text else { return -1 }
            if let known = numbers[text] { return known }
            numbers[text] = texts.count
            texts.append(text)
            return texts.count - 1
        }
        json.line().object("time") {
            let began = options.began &+ timeline.origin
            json.field("origin", timeline.origin)
            json.field("began", [began / 1_000_000_000, began % 1_000_000_000])
            json.objects("bands", timeline.bands) { band in
                json.field("name", band.name)
                json.array("marks", band.marks) { mark in
                    json.array {
                        json.value(mark.moment)
                        json.value(mark.name)
                    }
                }
                json.objects("counters", band.counters) { counter in
                    json.field("name", counter.name)
                    json.array("points", counter.points) { point in
                        json.value(point.moment)
                        json.value(point.value)
                    }
                }
                if !band.states.isEmpty {
                    json.array("states", band.states) { state in
                        json.value(state.begin)
                        json.value(state.length)
                        json.value(state.wantsCPU ? 1 : 0)
                        json.value(number(state.text))
                        json.value(state.waker?.band ?? -1)
                        json.value(state.waker?.moment ?? 0)
                        json.value(number(state.waker?.path))
                    }
                }
            }
            if !texts.isEmpty { json.field("texts", texts) }
        }
    }
}
