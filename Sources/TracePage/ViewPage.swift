public import TraceText

/// The page of `fathom view`, which asks a server for all that it shows, or has it inside.
public enum ViewPage {
    static let style: [UInt8] = PackageResources.common_css + PackageResources.view_css

    /// The modules of the page's script, in the order in which they use each other: first those of the flame graph.
    static let script: [UInt8] = [
        PackageResources.data_js, PackageResources.words_js, PackageResources.graph_js, PackageResources.sums_js,
        PackageResources.search_js, PackageResources.colours_js, PackageResources.labels_js,
        PackageResources.painter_js, PackageResources.view_js,
        PackageResources.waiting_js, PackageResources.legend_js, PackageResources.tip_js,
        PackageResources.sandwich_js, PackageResources.pointer_js,
        PackageResources.tiles_js, PackageResources.frozen_js, PackageResources.source_js, PackageResources.book_js,
        PackageResources.selection_js,
        PackageResources.fuzzy_js, PackageResources.lanes_js, PackageResources.shades_js,
        PackageResources.sieve_js, PackageResources.paint_js, PackageResources.pictures_js, PackageResources.wakes_js,
        PackageResources.timeline_js, PackageResources.heads_js, PackageResources.overlay_js,
        PackageResources.calls_js, PackageResources.gestures_js, PackageResources.overview_js,
        PackageResources.panes_js, PackageResources.grid_js, PackageResources.articlepane_js,
        PackageResources.flamepane_js, PackageResources.comparison_js,
        PackageResources.functions_js, PackageResources.graphpage_js, PackageResources.tree_js,
        PackageResources.durations_js, PackageResources.durationchange_js,
        PackageResources.waitspane_js, PackageResources.sourcepane_js, PackageResources.memorypane_js,
        PackageResources.infopane_js, PackageResources.commands_js,
        PackageResources.prompt_js, PackageResources.growing_js, PackageResources.start_js,
    ].flatMap(\.self)

    /// The script of a picture that becomes the page in it.
    public static let opener = PackageResources.picture_js

    /// What a page that is served says of what it may do (https://www.w3.org/TR/CSP3): it loads nothing, runs no script but its
    /// own, and asks nobody but the server that it came from. To be sent as the header `Content-Security-Policy`.
    public static let policy =
        "default-src 'none'; script-src '\(SHA256.source(of: script))'; style-src '\(SHA256.source(of: style))'; "
        + "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

    /// Writes the page that asks a server.
    public static func write(title: String, to writer: ByteWriter) {
        write(title: title, to: writer, style: style, policy: nil, article: nil) {
            writer.write("<script>" as StaticString)
            writer.write(script)
        }
    }

    /// Writes a page that needs nothing but itself. Its content security policy lets it load nothing, and run no script but its own, which
    /// is packed, as it would be most of a small page.
    ///
    /// - Parameter article: what can be read without a script, and is the first pane with one.
    public static func write(title: String, to writer: ByteWriter, content: FrozenContent, article: ViewArticle? = nil)
    {
        let style = style + (article?.style ?? [])
        let hashes = [PackageResources.loader_js, script].map { "'\(SHA256.source(of: $0))'" }.joined(separator: " ")
        let policy =
            "default-src 'none'; script-src \(hashes); style-src '\(SHA256.source(of: style))'; base-uri 'none'"
        write(title: title, to: writer, style: style, policy: policy, article: article) {
            writer.write("<script type=\"application/json\" id=\"frozen\">\n" as StaticString)
            content.write(to: writer)
            writer.write("\n</script>\n<script type=\"text/plain\" id=\"packed\">" as StaticString)
            writer.write(PackedText.of(script))
            writer.write("</script>\n<script>" as StaticString)
            writer.write(PackageResources.loader_js)
        }
    }

    /// - Parameter scripts: writes elements of scripts, but for the end of the last one.
    private static func write(
        title: String, to writer: ByteWriter, style: [UInt8], policy: String?, article: ViewArticle?,
        scripts: () -> Void
    ) {
        writer.write("<!doctype html>\n<html lang=\"en\"" as StaticString)
        if article != nil { writer.write(" class=\"is-static\"" as StaticString) }
        writer.write(">\n<head>\n<meta charset=\"utf-8\">\n" as StaticString)
        if let policy {
            writer.write("<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n")
        }
        writer.write("<meta name=\"viewport\" content=\"width=device-width\">\n<title>" as StaticString)
        writer.write(markup: title)
        writer.write("</title>\n<style>" as StaticString)
        writer.write(style)
        writer.write("</style>\n</head>\n<body>\n" as StaticString)
        writer.write(PackageResources.view_html)
        article?.write(to: writer)
        writer.write("<script type=\"application/json\" id=\"palette\">\n" as StaticString)
        let json = JSONWriter(writer, isEmbedded: true)
        json.object {
            let count = FlamePalette.groupCount
            json.object("light") { FlamePalette.write(isDark: false, groups: count, to: json) }
            json.object("dark") { FlamePalette.write(isDark: true, groups: count, to: json) }
        }
        writer.write("\n</script>\n" as StaticString)
        scripts()
        writer.write("</script>\n</body>\n</html>\n" as StaticString)
    }
}
