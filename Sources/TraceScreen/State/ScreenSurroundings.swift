/// What the screen is told of by others, when it asks.
public struct ScreenSurroundings {
    /// The pages of `fathom info`.
    public var info: () -> [String]
    /// The lines of a source file around a line, which the number of the first one goes with; nil when it cannot be read.
    public var source: (_ file: String, _ line: Int) -> (first: Int, lines: [String])?
    /// A path as it is shown.
    public var path: (String) -> String
    /// Which calls each thread of a running program is in now, a line each; nil where nothing runs.
    public var openCalls: (() -> [(text: String, style: ScreenStyle)])?

    public init(
        info: @escaping () -> [String] = { [] },
        source: @escaping (_ file: String, _ line: Int) -> (first: Int, lines: [String])? = { _, _ in nil },
        path: @escaping (String) -> String = { $0 },
        openCalls: (() -> [(text: String, style: ScreenStyle)])? = nil
    ) {
        self.info = info
        self.source = source
        self.path = path
        self.openCalls = openCalls
    }
}
