internal import TraceText

/// The page that shows a recording, all in one file.
public enum ViewerPage {
    public static let html =
        Array("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n".utf8)
        + Array(
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Fathom</title>\n</head>\n<body>\n".utf8)
        + PackageResources.view_html + Array("<script>".utf8) + PackageResources.view_js
        + Array("</script>\n</body>\n</html>\n".utf8)

    /// What the page may do (https://www.w3.org/TR/CSP3): run its own script, and ask the server that it came from.
    public static let policy =
        "default-src 'none'; script-src '\(SHA256.source(of: PackageResources.view_js))'; connect-src 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}
