import TestSupport
import Testing

/// What a flame graph is written as.
@Suite struct FlameFormatTests {
    @Test func formats() throws {
        let recording = try DrawnRecording(), directory = recording.directory
        func flame(_ words: String...) throws -> ProcessOutput {
            try Fathom.run(["flame", recording.session] + words, workingDirectory: directory.path)
        }
        let data = try flame("--format", "json", "-o", "-")
        let frames = try run("jq", ["-c", "[.frames | length % 6, length > 60]"], input: data.stdout)
        #expect(data.status == 0 && frames.stdout == "[0,true]\n", "\(data.stderr)\(frames.stderr)")
        let named = try flame("--format", "json")
        #expect(named.status == 0 && named.stderr == "fathom: wrote session.flame.json\n")
        #expect(try String(decoding: readFile(directory.file("session.flame.json")), as: UTF8.self) == data.stdout)
        // It is what the page holds.
        let page = try flame("--format", "html", "-o", "-").stdout
        let script = try #require(page.split(separator: "id=\"frozen\">\n").last?.split(separator: "\n</script>").first)
        let (inside, alone) = try (
            run("jq", ["-S", ".answers.flame.answer"], input: String(script)),
            run("jq", ["-S", "."], input: data.stdout)
        )
        #expect(inside.status == 0 && inside.stdout == alone.stdout)
        #expect(try flame("--format", "svg", "-o", "-").stdout.contains("<svg"))
        for (words, message) in [
            (["--format", "svg", "-o", "x.html"], "-o x.html: --format svg is no file of .html"),
            (["--format", "json", "-o", "x.svg"], "-o x.svg: --format json is no file of .svg"),
            (["--format", "html", "-o", "x.png"], "-o x.png: --format html is no file of .png"),
            (["--format", "json", "--open"], "--open is for pages and pictures, not for --format json"),
        ] {
            let wrong = try Fathom.run(["flame", recording.session] + words, workingDirectory: directory.path)
            #expect(wrong.status == 64 && wrong.stderr.contains(message), "\(words): \(wrong.stderr)")
        }
    }
}
