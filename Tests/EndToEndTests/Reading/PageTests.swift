import TestSupport
import Testing

/// README and the pages of Documentation: what they show is what happens, and their links lead somewhere.
@Suite struct PageTests {
    private static let pages: [String] = {
        let names = ["README.md", "Documentation", "-name", "*.md"]
        let listed = try? run("find", names, workingDirectory: Binaries.repository)
        return (listed?.stdout ?? "").split(separator: "\n").map(String.init).sorted()
    }()

    @Test func pagesAreThere() { #expect(Self.pages.count > 10) }

    private func check(_ arguments: [String], tool: String, adding: [String: String] = [:]) throws -> ProcessOutput {
        let environment = Fathom.inherited(adding: adding.merging(["FATHOM_BIN": Fathom.executable]) { $1 })
        return try run("\(Binaries.repository)/Tools/\(tool)", arguments, environment: environment)
    }

    /// Each command runs as the page shows it, and prints what is shown below it.
    @Test(arguments: pages) func commands(page: String) throws {
        let checked = try check(["\(Binaries.repository)/\(page)"], tool: "check-pages")
        #expect(checked.status == 0, "\(checked.stderr)")
    }

    private static let shown = """
        # A page

        <!-- file: few.c -->
        ```c
        int few(int n) { return n; }
        int main(void) { for (int i = 0; i < 25; i++) few(i); return 0; }
        ```

        ```console
        $ fathom build -- gcc -O1 -o few few.c
        fathom: 1 of 1 files compiled with hooks
        $ fathom record -q -- ./few
        $ fathom tree few.fathom
        process 123 few · thread 123 main (few)
        # depth      total       self  call
              0    25.1 us    9.12 us  main
              1   920.1 ns   920.1 ns    few (25 calls)
        $ fathom tree few.fathom -F nosuch
        fathom: error: no function matches 'nosuch'
        $ echo $?
        1
        ```

        Or `fathom tree few.fathom --max-depth 1`:

            fathom report few.fathom --by path | head -3    # what its paths add up to

        """

    /// What the page above says wrongly in place of what, and how this is told.
    private static let mistakes = [
        ("few (25 calls)", "few (24 calls)", "few (25 calls)"), ("    few (25", "      few (25", "    few (25"),
        ("920.1 ns  ", "920.1 ns  few ", "few (25 calls)"), ("thread 123 main", "thread 123 other", "main (few)"),
        ("# depth      total       self  call", "...\nnothing", "shown:   nothing"),
        ("1 of 1 files", "2 of 2 files", "1 of 1 files"),
        ("-F nosuch", "-F few", "ended with status|no function matches"),
        ("fathom: error: no function matches 'nosuch'\n", "", "printed: fathom: error: no"),
        ("echo $?\n1", "echo $?\n0", "printed: 1"),
        ("--max-depth 1", "--deep 1", "has no option '--deep'"), ("--by path", "--of path", "has no option '--of'"),
        ("fathom report", "fathom reprot", "there is no command 'fathom reprot'"),
        ("```console", "```", "is to be fenced as ```console"),
        ("file: few.c", "fiel: few.c", "a comment that is none of"),
    ]

    @Test func whatIsTrueIsTaken() throws {
        let directory = try TemporaryDirectory("page")
        let page = try directory.write(Self.shown, to: "page.md")
        let checked = try check([page], tool: "check-pages")
        #expect(checked.status == 0, "\(checked.stderr)")
        #expect(checked.stdout.hasPrefix("5 commands of 1 pages ran, 0 are marked"))
    }

    /// Comments say how to take a block, a line `...` stands for others, and what a page leaves running ends with it.
    private static let noted = """
        # A page

        <!-- run: seq 1 100 >numbers -->
        <!-- from: Traces/programs/hooks/counting.c -->
        ```c
        #include <stdint.h>
        ```

        <!-- not run: there is no such command -->
        ```console
        $ nosuch
        as it is
        ```

        ```console
        $ cat numbers
        1
        ...
        99
        100
        $ sleep 4711 &
        $ cd / && pwd
        /
        $ ls nosuch; echo $?; false
        ls: cannot access 'nosuch': No such file or directory
        2
        $ echo $?
        1
        ```

        <!-- numbers vary: it is random -->
        ```console
        $ echo $RANDOM of $$
        17 of 4
        ```

        """

    private static let notedMistakes = [
        ("1\n...", "2\n...", "shown:   2"), ("99\n100", "98\n99\n101", "shown:   101"),
        ("of 4", "off 4", "shown:   17 off 4"),
        ("<!-- numbers vary: it is random -->\n", "", "shown:   17 of 4"),
        ("#include <stdint.h>", "#include <none.h>", "in one piece"),
        ("counting.c", "none.c", "there is no Traces/programs/hooks/none.c"),
        ("; false\n", "; false ;:\n", "printed: 0"),
        ("<!-- not run: there is no such command -->\n", "", "ended with status 127"),
        ("1\n...\n99\n100\n", "1\n...\n99\n", "shown:   99"),
    ]

    @Test func comments() throws {
        let directory = try TemporaryDirectory("page")
        let page = try directory.write(Self.noted, to: "page.md")
        let checked = try check([page], tool: "check-pages", adding: ["FATHOM_BLESS": ""])
        #expect(checked.status == 0, "\(checked.stderr)")
        #expect(checked.stdout.hasPrefix("7 commands of 1 pages ran, 1 are marked"), "\(checked.stdout)")
        #expect(try run("sh", ["-c", "ps -eo args | grep '^sleep 4711'"]).stdout.isEmpty)
    }

    @Test(arguments: notedMistakes.indices) func commentsAreHeeded(index: Int) throws {
        let (right, wrong, told) = Self.notedMistakes[index]
        try #require(Self.noted.contains(right))
        let directory = try TemporaryDirectory("page")
        let page = try directory.write(Self.noted.replacing(right, with: wrong), to: "page.md")
        let checked = try check([page], tool: "check-pages", adding: ["FATHOM_BLESS": ""])
        #expect(checked.status == 1 && checked.stderr.contains(told), "\(checked.stderr)")
    }

    /// The comparison sees what a reader would see, and leaves out what differs from run to run.
    @Test(arguments: mistakes.indices) func whatDiffersIsTold(index: Int) throws {
        let (right, wrong, told) = Self.mistakes[index]
        try #require(Self.shown.contains(right))
        let directory = try TemporaryDirectory("page")
        let page = try directory.write(Self.shown.replacing(right, with: wrong), to: "page.md")
        let checked = try check([page], tool: "check-pages", adding: ["FATHOM_BLESS": ""])
        #expect(checked.status == 1)
        #expect(told.split(separator: "|").contains { checked.stderr.contains($0) }, "\(checked.stderr)")
    }

    /// What differs is put in its place, and nothing else is touched.
    @Test func blessing() throws {
        let directory = try TemporaryDirectory("page")
        let page = try directory.write(Self.shown.replacing("25 calls", with: "9 calls"), to: "page.md")
        let blessed = try check([page], tool: "check-pages", adding: ["FATHOM_BLESS": "1"])
        #expect(blessed.status == 0, "\(blessed.stderr)")
        let text = try run("cat", [page]).stdout
        #expect(text.contains("few (25 calls)\n") && !text.contains("9 calls"), "\(text)")
        #expect(text.split(separator: "```console")[0] == Self.shown.split(separator: "```console")[0])
    }

    /// What a browser asks the network for when it shows a page.
    private func asked(by page: String, in directory: TemporaryDirectory) throws -> String {
        let log = directory.file("network.json")
        let options = ["--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
        let shown = try run("chromium-headless-shell", options + ["--log-net-log=\(log)", "file://\(page)"])
        #expect(shown.stdout.contains("</html>"))
        return try run("grep", ["-oE", "\"url\":\"[^\"]*", log]).stdout
    }

    /// Every link and anchor of the site leads somewhere, and a page asks no other host for anything, whatever its scripts do.
    @Test func site() throws {
        let made = try check([], tool: "site")
        try #require(made.status == 0, "\(made.stderr)")
        let directory = try TemporaryDirectory("asked")
        for page in ["index.html", "tutorials/leak.html"] {
            #expect(try asked(by: "\(Binaries.repository)/.build/site/\(page)", in: directory) == "", "\(page)")
        }
        let other = try directory.write("<html><script>fetch('https://example.org/x')</script></html>", to: "x.html")
        #expect(try asked(by: other, in: directory).contains("https://example.org/x"))
    }

    /// A page of a small site, and what is wrong with it.
    private static let links = [
        ("[there](more.md), [here](#home), [the tool](../Tools/tool)", ""),
        ("[gone](gone.md)", "gone.md leads nowhere"),
        ("[part](more.md#gone)", "more.md has no heading #gone"),
        ("[out](../..)", "../.. leads out of the repository"),
        ("<img alt=\"x\" src=\"gone.png\">", "gone.png leads nowhere"),
        ("<img alt=\"x\" src=\"https://example.org/x.png\">", "index.html loads https://example.org/x.png"),
        ("<script src=\"//example.org/x.js\"></script>", "index.html loads //example.org/x.js"),
    ]

    @Test(arguments: links.indices) func brokenLinks(index: Int) throws {
        let (text, told) = Self.links[index]
        let directory = try TemporaryDirectory("site")
        for folder in ["Documentation", "Tools"] { try directory.makeDirectory(folder) }
        for name in ["README.md", "CONTRIBUTING.md", "Tools/tool"] { try directory.write("# Name\n", to: name) }
        try directory.write("# Home\n\n\(text)\n", to: "Documentation/index.md")
        try directory.write("# More\n\n`[no link](x)`\n", to: "Documentation/more.md")
        let navigation = "site_name: Small\nuse_directory_urls: false\ndocs_dir: !ENV FATHOM_PAGES\nstrict: true\n"
        let theme = "theme: {name: material, font: false}\nextra: {generator: false}\n"
        try directory.write("\(navigation)\(theme)nav: [index.md, more.md]\n", to: "mkdocs.yml")
        let made = try check([], tool: "site", adding: ["FATHOM_SITE_ROOT": directory.path])
        #expect(made.status == (told.isEmpty ? 0 : 1) && made.stderr.contains(told), "\(made.stderr)")
        guard told.isEmpty else { return }
        #expect(made.stderr.isEmpty, "\(made.stderr)")
        try directory.write("# Lost\n", to: "Documentation/lost.md")
        let lost = try check([], tool: "site", adding: ["FATHOM_SITE_ROOT": directory.path])
        #expect(lost.status == 1 && lost.stderr.contains("lost.md is not in the navigation"), "\(lost.stderr)")
    }
}
