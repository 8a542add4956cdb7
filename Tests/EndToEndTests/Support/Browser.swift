import TestSupport

/// A page in headless Chromium, driven by `Tools/browser`.
enum Browser {
    private static let tool =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Tools/browser"

    /// Opens a file, does these steps, and returns what those that print gave: JSON, a string each.
    ///
    /// - Parameter isFlame: whether the page is a flame graph, which is waited for; others are there when they are loaded.
    /// - Throws: ``TestSupportError`` with the browser's words when a step fails or the page reports an error.
    static func run(_ page: String, _ steps: [String], isFlame: Bool = true) throws -> [String] {
        let ready = isFlame ? ["wait typeof main !== 'undefined' && main.graph && main.width > 0"] : []
        let result = try TestSupport.run(tool, [page] + ready + steps)
        guard result.status == 0 else { throw BrowserFailure(page: page, errors: result.stderr) }
        return result.stdout.split(separator: "\n").map(String.init)
    }

    /// Waits until the page has been drawn for a window of this size, as in `400x800`.
    static func isOfSize(_ size: String) -> String {
        let width = size.prefix { $0 != "x" }
        return "wait innerWidth === \(width) && main.width > innerWidth / 2 && main.width <= innerWidth"
    }

    /// JavaScript for where a frame is in the window; `frame` is JavaScript too.
    static func place(_ frame: String, in view: String = "main") -> String {
        inWindow("\(view).placeOf(\(frame))", view)
    }

    /// JavaScript for a point of the drawing, as a place in the window.
    static func point(_ x: String, _ y: String, in view: String = "main") -> String {
        inWindow("{ x: \(x), y: \(y), width: 0, height: 0 }", view)
    }

    private static func inWindow(_ place: String, _ view: String) -> String {
        """
        (place => { const box = \(view).canvas.getBoundingClientRect(); \
        return { ...place, x: place.x + box.x, y: place.y + box.y } })(\(place))
        """
    }
}

struct BrowserFailure: Error {
    var page: String
    var errors: String
}
