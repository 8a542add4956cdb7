internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceText

/// What only all records tell of tracks: marks, counters, and for how long threads were blocked.
enum EventsDocument {
    /// - Parameter threads: the tracks, in the order in which everything numbers them.
    /// - Complexity: O(records), where the program has marks or counters, or waits were recorded.
    static func bytes(of query: SessionQuery, tracks threads: [TracedThread]) -> [UInt8] {
        let events = query.events(of: threads)
        return jsonBytes { json in
            json.object {
                json.field("version", 1)
                json.objects("tracks", threads.indices, .each) { track in
                    let span = threads[track].span(query.session.clock)
                    json.field("blocked", SessionDocument.blocked(threads[track], span))
                    let marks = events[track].filter { !$0.series.isCounter }
                    json.name("marks")
                    write(marks, json)
                    json.field("marksLeftOut", marks.reduce(0) { $0 &+ $1.series.leftOut })
                    json.objects("counters", events[track].filter(\.series.isCounter)) { name, series in
                        json.field("name", name)
                        json.array("points", series.points) { point in
                            json.array {
                                json.value(point.moment)
                                json.value(point.value)
                            }
                        }
                        json.field("leftOut", series.leftOut)
                    }
                }
            }
        }
    }

    private static func write(_ marks: [(name: String, series: EventSeries)], _ json: JSONWriter) {
        let all = marks.flatMap { name, series in series.points.map { (moment: $0.moment, name: name) } }
        json.array(all.sorted { ($0.moment, $0.name) < ($1.moment, $1.name) }) { mark in
            json.array {
                json.value(mark.moment)
                json.value(mark.name)
            }
        }
    }
}
