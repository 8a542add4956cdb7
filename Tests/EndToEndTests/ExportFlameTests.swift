import TestSupport
import Testing

/// The flame graph page in a real browser.
@Suite struct ExportFlameTests {
    private static let browser = ["chromium-headless-shell", "chromium"].first(where: Toolchain.isInstalled)

    @Test(.enabled(if: browser != nil)) func thePageRuns() throws {
        let directory = try TemporaryDirectory("flame")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("json.c", .gccO0), "300"], into: session)
        let page = directory.file("flame.html")
        #expect(try Fathom.run(["flame", session, "-o", page, "--title", "A <b> & c"]).status == 0)
        // What a person would do, at the end of the page; what is found comes back in its title.
        let steps = """
            <script>
            const press = key => canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            const results = [document.title, count > 10, name(1), total[0] === total[1]];
            press('ArrowDown'); press('Enter'); results.push(zoomed === 1);
            press('Backspace'); results.push(zoomed === 0);
            element('search').value = '/^main$/'; search(); results.push(element('matched').textContent);
            press('Escape'); results.push(element('matched').textContent === '');
            press('i'); results.push(inverted);
            document.body.textContent = 'RESULTS ' + JSON.stringify(results) + ' END';
            </script>
            """
        let text = String(decoding: try readFile(page), as: UTF8.self)
        try writeFile(Array((text + steps).utf8), to: page)
        let output = try run(
            ExportFlameTests.browser!, ["--no-sandbox", "--disable-gpu", "--dump-dom", "file://\(page)"])
        let results = output.stdout.split(separator: "RESULTS ").last?.split(separator: " END").first
        #expect(
            results == #"["A <b> & c",true,"main",true,true,true,"matched 100.00 %",true,true]"#
                || results == #"["A &lt;b&gt; &amp; c",true,"main",true,true,true,"matched 100.00 %",true,true]"#)
    }

    @Test func theChartIsOfOneThread() throws {
        let directory = try TemporaryDirectory("chart")
        let session = directory.file("session.fathom")
        let chart = directory.file("chart.svg")
        _ = try Fathom.record([try Binaries.instrumented("threads.c", .gccO0)], into: session)
        let all = try Fathom.run(["flame", session, "--time-order", "-o", chart])
        #expect(all.status == 64)
        #expect(all.stderr.contains("--thread"))
        _ = try Fathom.record([try Binaries.instrumented("json.c", .gccO0), "20"], into: session + ".one")
        let one = try Fathom.run(["flame", session + ".one", "--time-order", "-o", chart])
        #expect(one.status == 0, "\(one.stderr)")
        #expect(String(decoding: try readFile(chart), as: UTF8.self).contains("<title>main\n1 call, total "))
    }
}
