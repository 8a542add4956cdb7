public import TraceText

/// A part of a page that Swift writes: it can be read without a script, and is the page's first pane with one.
public struct ViewArticle {
    /// What the pane is called.
    let title: String
    /// Rules for what is in the element `article`.
    let style: [UInt8]
    private let markup: (ByteWriter) -> Void

    public init(_ title: String, style: [UInt8], markup: @escaping (ByteWriter) -> Void) {
        self.title = title
        self.style = PackageResources.article_css + style
        self.markup = markup
    }

    func write(to writer: ByteWriter) {
        writer.write("<article id=\"article\" data-title=\"" as StaticString)
        writer.write(markup: title)
        writer.write("\">\n" as StaticString)
        markup(writer)
        writer.write("</article>\n" as StaticString)
    }

    /// What a page has inside that has an article alone.
    public static func content(title: String) -> FrozenContent {
        FrozenContent(
            session: ByteWriter.bytes { bytes in
                let json = JSONWriter(bytes)
                json.object {
                    json.field("version", 1)
                    json.field("session", title)
                    json.field("content", "article")
                    json.field("begin", 0)
                    json.field("end", 1)
                    for name: StaticString in ["command", "processes", "tracks"] { json.field(name, [String]()) }
                }
            })
    }
}
