import Testing

@testable import TraceText

@Suite struct NearNamesTests {
    private let commands = ["build", "record", "tree", "report", "graph", "flame", "diff", "export", "tune", "info"]

    @Test(arguments: [
        ("repot", ["report"]), ("exprot", ["export"]), ("TREE", ["tree"]), ("tre", ["tree"]), ("rec", ["record"]),
        ("raph", ["graph"]), ("re", ["record", "report"]), ("recort", ["record", "report"]), ("difff", ["diff"]),
        ("x", []), ("", []), ("statistics", []),
    ])
    func commandsThatWereMeant(_ written: String, _ near: [String]) {
        #expect(NearNames(to: written, among: commands).names == near)
    }

    /// Misspelt names come before longer ones, and the shortest of those first.
    @Test func order() {
        let names = ["reparse", "parser", "prase", "parse_line", "parse_all", "parsed", "pars"]
        #expect(NearNames(to: "parse", among: names).names == ["parser", "prase", "parsed"])
        #expect(NearNames(to: "pars", among: ["do_pars_it", "parsed_all", "parsing"]).names.first == "parsing")
        #expect(NearNames(to: "line", among: ["parse_line", "parse_lines", "parse_line"]).names.count == 2)
    }

    @Test func spellings() {
        let near = NearNames(to: "baz", among: ["ns::bar", "ns::other"]) { name in
            [name[...], name.split(separator: ":").last ?? ""]
        }
        #expect(near.names == ["ns::bar"])
    }

    @Test(
        arguments: [
            ([], ""), (["name1"], "; did you mean name1?"), (["name1", "name2"], "; did you mean name1 or name2?"),
            (["name1", "name2", "name3", "name4"], "; did you mean name1, name2 or name3?"),
        ] as [([String], String)])
    func questions(_ names: [String], _ question: String) {
        #expect(NearNames(to: "name", among: names).question == question)
    }

    @Test(arguments: [
        ("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "bacd", 1), ("abc", "abd", 1),
        ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func edits(_ name: String, _ other: String, _ count: Int) {
        #expect(NearNames.edits(from: Array(name.utf8), to: Array(other.utf8)) == count)
        #expect(NearNames.edits(from: Array(other.utf8), to: Array(name.utf8)) == count)
    }
}
