import Testing

@testable import TraceText

@Suite struct StringColumnsTests {
    @Test(arguments: [
        ("", 0), ("plain", 5), ("größer", 6), ("→ …", 3), ("数える", 6), ("e\u{301}", 1), ("한글", 4), ("a\u{200b}b", 2),
    ])
    func columns(_ text: String, _ columns: Int) {
        #expect(text.columns == columns)
    }

    @Test(arguments: [
        ("short", 5, "short"), ("short", 9, "short"), ("shorter", 6, "sho…er"), ("shorter", 5, "sh…er"),
        ("std::vector<int>::push_back", 15, "std::ve…sh_back"), ("ab", 1, "…"), ("ab", 0, ""),
        ("数数数数", 5, "数…数"), ("数数数数", 6, "数…数"), ("数数数数", 7, "数…数"),
    ])
    func shortening(_ text: String, _ limit: Int, _ shown: String) {
        #expect(text.shortened(to: limit) == shown)
        #expect(shown.columns <= max(limit, text.columns))
    }

    @Test(arguments: [
        ("one two three", 20, 0, "one two three"), ("one two three", 8, 0, "one two\nthree"),
        ("one two three", 10, 4, "one\n    two\n    three"), ("", 5, 0, ""), ("abcdefgh i", 3, 0, "abc\ndef\ngh\ni"),
        ("a  b", 10, 0, "a  b"), ("数数数", 4, 0, "数数\n数"),
        ("it took 1.00 s, twice", 13, 0, "it took\n1.00 s, twice"), ("2 of 3 files", 5, 0, "2 of\n3\nfiles"),
    ])
    func wrapping(_ text: String, _ width: Int, _ indentation: Int, _ lines: String) {
        #expect(text.wrapped(to: width, indentation: indentation) == lines)
    }

    @Test(arguments: [
        ("short\n", "short\n"), ("12345678\n", "12345678\n"), ("123456789\nab\n", "1234567…\nab\n"),
        ("1234\u{1b}[31m56789\u{1b}[0m\n", "1234\u{1b}[31m567…\u{1b}[0m\n"),
        ("\u{1b}[31m12345678\u{1b}[0m\n", "\u{1b}[31m12345678\u{1b}[0m\n"),
        ("数数数数\n", "数数数数\n"), ("数数数数a\n", "数数数…\n"), ("a数数数数\n", "a数数数…\n"), ("\n\n", "\n\n"),
    ])
    func cutting(_ text: String, _ shown: String) {
        // In one piece, and byte by byte.
        for size in [text.utf8.count, 1] {
            var bytes: [UInt8] = []
            let writer = ByteWriter.cuttingLines(
                to: 8,
                ByteWriter {
                    bytes += $0
                    return true
                })
            for start in stride(from: 0, to: text.utf8.count, by: size) {
                writer.write(Array(Array(text.utf8)[start..<start + size]))
                writer.flush()
            }
            #expect(String(decoding: bytes, as: UTF8.self) == shown)
        }
    }

    @Test(arguments: [
        ("/src/a.c", "/src", "a.c"), ("/src/x/../a.c", "/src", "a.c"),
        ("/src/../other/a.c", "/src", "/other/a.c"),
        ("/srcs/a.c", "/src", "/srcs/a.c"), ("a/./b//c.c", "/src", "a/b/c.c"), ("../a.c", "/src", "../a.c"),
        ("x/../../a.c", "/src", "../a.c"), ("/..//a.c", "/src", "/a.c"), ("/src", "/src", "/src"),
        ("/a.c", "/", "a.c"),
    ])
    func paths(_ path: String, _ directory: String, _ shown: String) {
        #expect(PathText.relative(path, to: directory) == shown)
    }
}
