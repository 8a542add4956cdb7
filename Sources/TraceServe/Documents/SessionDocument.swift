internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceText

/// What the page is told first: what was recorded, and the tracks that it can show.
///
/// All of it comes from headers, so it takes no longer for a larger recording; where Swift's tasks have to be joined, which
/// reads the records of their threads, it does.
struct SessionDocument: Sendable {
    /// How many tracks there are.
    let tracks: Int
    /// Whether there may be more later.
    let isRecording: Bool
    /// The document, but for its last member and its end.
    private let bytes: [UInt8]

    /// - Parameter threads: the tracks, in the order in which everything numbers them.
    init(of session: Session, tracks threads: [TracedThread]) {
        tracks = threads.count
        isRecording = session.isRecording
        bytes = jsonBytes { json in
            json.beginObject()
            json.field("version", 1)
            json.field("session", PathText.name(session.path))
            json.field("command", session.description?.command ?? [])
            let began = session.startRealtimeNanoseconds
            json.field("began", [began / 1_000_000_000, began % 1_000_000_000])
            let spans = threads.map { $0.span(session.clock) }
            let calls = threads.map { $0.countCalls() }
            let busy = zip(spans, calls).filter { $1 > 0 }.map(\.0)
            json.field("begin", busy.map(\.lowerBound).min() ?? 0)
            json.field("end", busy.map(\.upperBound).max() ?? 0)
            json.field("content", SessionDocument.content(of: session))
            json.field("isRecording", session.isRecording)
            json.field("splits", session.splitsTimes)
            json.field("waits", session.description?.waitSources?.tellsCauses ?? false)
            json.field("memory", session.tellsMemory)
            json.field("faults", session.faults != nil)
            json.objects("processes", session.processes) { process in
                json.field("pid", process.pid)
                json.field("name", process.programName)
                json.field("command", process.calledName ?? process.programName)
            }
            json.name("tracks")
            SessionDocument.write(threads, spans, calls, of: session, json)
        }
    }

    private static func write(
        _ threads: [TracedThread], _ spans: [Range<UInt64>], _ calls: [UInt64], of session: Session, _ json: JSONWriter
    ) {
        let places = Dictionary(
            session.processes.enumerated().map { (ObjectIdentifier($0.element), $0.offset) }, uniquingKeysWith: { $1 })
        json.array {
            for (index, thread) in threads.enumerated() {
                let label = ThreadLabel(thread)
                json.beginObject(.each)
                json.field("process", places[ObjectIdentifier(thread.process)])
                json.field("tid", thread.task ?? thread.tid)
                json.field("kind", thread.task == nil ? "thread" : "task")
                json.field("name", thread.name)
                json.field("label", label.text)
                json.field("begin", spans[index].lowerBound)
                json.field("end", spans[index].upperBound)
                json.field("calls", calls[index])
                // What chunks begin with; what lies between them may be deeper.
                let depth = thread.chunks.map(\.depth).max() ?? 0
                json.field("depth", max(depth, calls[index] > 0 ? 1 : 0))
                // In other recordings it takes reading all of them; EventsDocument has it then.
                json.field("blocked", session.switches == nil ? nil : SessionDocument.blocked(thread, spans[index]))
                json.endObject()
            }
        }
    }

    /// For how long a thread was blocked, in ns; nil where that is not known.
    static func blocked(_ thread: TracedThread, _ span: Range<UInt64>) -> UInt64? {
        thread.offCPU()?.times(from: span.lowerBound, to: span.upperBound).blocked
    }

    private static func content(of session: Session) -> String {
        switch session.content {
        case .calls: "calls"
        case .paths: "paths"
        case .counts: "counts"
        case .samples: "samples"
        case .firstCalls: "firstCalls"
        }
    }

    /// The whole document.
    ///
    /// - Parameters:
    ///   - summaries: how far they are made, 0...1.
    ///   - compared: what is compared, if something is.
    func whole(summaries: Double, compared: Compared?) -> [UInt8] {
        bytes
            + jsonBytes { json in
                json.bytes.write(byte: UInt8(ascii: ","))
                json.field("summaries", summaries)
                if let compared {
                    json.object("compared") {
                        json.field("before", compared.before)
                        json.field("after", compared.after)
                    }
                }
                json.endObject()
            }
    }
}
