internal import TraceQuery
internal import TraceText

/// A source file: its text, and whether that is what was recorded.
enum SourceDocument {
    static func reply(with file: String, of sources: SessionSources) -> Reply {
        do throws(SessionSources.Problem) {
            let text = try sources.text(of: file)
            return .json(
                jsonBytes { json in
                    json.object {
                        json.field("file", file)
                        json.field("held", text.isHeld)
                        json.field("changed", text.isChanged)
                        json.field("text", String(decoding: text.bytes, as: UTF8.self))
                    }
                })
        } catch {
            if case .notOfSession = error { return .error(404, "\(error)") }
            return .json(
                jsonBytes { json in
                    json.object {
                        json.field("file", file)
                        json.field("problem", "\(error)")
                    }
                })
        }
    }
}
