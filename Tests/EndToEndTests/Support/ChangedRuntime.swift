internal import Glibc
import TestSupport
import Testing

/// Runtimes that lack something, to show what it is there for.
enum ChangedRuntime {
    struct Change: Sendable {
        /// What stands in the file exactly once.
        var text: String
        var replacement: String
    }

    private static let objects = Result { try Fathom.sharedDirectory("RuntimeObjects") }

    /// A `fathom` beside which lies the runtime as it is, made in the same way as the others. Whoever asks first makes what all have
    /// in common.
    static let unchanged = Result {
        let directory = try Fathom.sharedDirectory("UnchangedRuntime")
        return try make(in: directory)
    }

    /// A `fathom` beside which lies a runtime with changes in one file.
    ///
    /// - Parameters:
    ///   - file: below `Sources/CTraceRuntime`.
    ///   - directory: what it is made in.
    static func fathom(_ file: String, _ changes: [Change], in directory: TemporaryDirectory) throws -> String {
        _ = try unchanged.get()
        let source = try readFile("\(Binaries.repository)/Sources/CTraceRuntime/\(file)")
        var text = String(decoding: source, as: UTF8.self)
        for change in changes {
            let found = text.ranges(of: change.text)
            try #require(found.count == 1, "\(file) has \(found.count) times: \(change.text)")
            text.replaceSubrange(found[0], with: change.replacement)
        }
        return try make(
            in: directory.makeDirectory("runtime"), [file, try directory.write(text, to: "changed.c")])
    }

    private static func make(in directory: String, _ change: [String] = []) throws -> String {
        let made = try run(
            "\(Binaries.repository)/Tools/changed-runtime", [try objects.get(), directory] + change,
            environment: Fathom.inherited(adding: ["FATHOM_BIN": Fathom.executable]))
        try #require(made.status == 0, Comment(rawValue: made.stderr))
        return "\(directory)/fathom"
    }
}
