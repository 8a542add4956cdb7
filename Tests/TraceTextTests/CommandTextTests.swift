import Testing
import TraceText

/// Commands as they are proposed.
@Suite struct CommandTextTests {
    /// No command takes a file for an option, and a shell takes each for one word.
    @Test(arguments: [
        ("prog.fathom", "prog.fathom"), ("-x.fathom", "./-x.fathom"), ("-", "./-"), ("--help", "./--help"),
        ("a b", "'a b'"), ("-a b", "'./-a b'"), ("it's", "'it'\\''s'"), ("/-x", "/-x"),
    ])
    func files(_ path: String, _ word: String) { #expect(CommandText.file(path) == word) }
}
