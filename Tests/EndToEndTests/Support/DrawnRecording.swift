import TestSupport
import Testing

/// A recording of a program that parses JSON, and flame graphs of it.
struct DrawnRecording {
    let directory: TemporaryDirectory
    let session: String

    /// The recording, made once a test run.
    private static let session = Result {
        let session = "\(try Fathom.sharedDirectory("Drawn"))/session.fathom"
        let recorded = try Fathom.record(
            [try Binaries.instrumented("json.c", .gccO0), "300"], into: session, options: ["--quiet", "--no-blocked"])
        try #require(recorded.status == 0, "\(recorded.stderr)")
        return session
    }

    init() throws {
        directory = try TemporaryDirectory("drawn")
        session = try Self.session.get()
    }

    /// Draws a file called `name`, and returns its path.
    func draw(_ name: String, _ options: [String] = []) throws -> String {
        let file = directory.file(name)
        let drawn = try Fathom.run(["flame", session, "-o", file] + options)
        try #require(drawn.status == 0, "\(drawn.stderr)")
        return file
    }
}
