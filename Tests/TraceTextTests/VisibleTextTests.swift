import TestSupport
import Testing

@testable import TraceText

@Suite struct VisibleTextTests {
    @Test(
        arguments: [
            ("", ""), ("plain ~", "plain ~"), ("größer → 数", "größer → 数"), ("a\nb\rc\td", #"a\nb\rc\td"#),
            ("\u{1b}[2J", #"\x1b[2J"#), ("\u{0}\u{7}\u{7f}", #"\x00\x07\x7f"#), ("\u{9b}2J", #"\u{9b}2J"#),
            ("a\u{202e}b\u{2066}c\u{2028}", #"a\u{202e}b\u{2066}c\u{2028}"#),
        ])
    func steeringIsWrittenOut(_ text: String, _ shown: String) {
        #expect(text.visible == shown)
        #expect(shown.visible == shown)
    }

    @Test(
        arguments: [
            (["a", "b c", ""], "a 'b c' ''"), (["it's"], #"'it'\''s'"#), (["größer"], "größer"),
            (["a\nb", "\r"], #"$'a\nb' $'\r'"#), (["\u{1b}'\\"], #"$'\x1b\'\\'"#),
            (["a\u{202e}b"], #"$'a\u202eb'"#), (["\u{9b}2J"], #"$'\u009b2J'"#),
        ])
    func commandsAreForShells(_ arguments: [String], _ line: String) {
        #expect(CommandText.line(arguments) == line)
    }

    /// What is written out is what the shell makes of it again.
    @Test func shellsTakeCommandsBack() throws {
        let arguments = ["a b", "it's", "a\nb", "\r\u{1b}[2J", "\u{9b}", "a\u{202e}b\u{2069}", "\\", "", "größer"]
        let output = try run(
            "bash", ["-c", "printf '%s\\0' \(CommandText.line(arguments))"], environment: ["LC_ALL": "C.UTF-8"])
        #expect(
            output.stdout.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
                == arguments)
    }
}
