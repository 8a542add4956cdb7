import Testing

@testable import TraceFile

@Suite struct JSONParserTests {
    private func parse(_ text: String) -> JSONValue? {
        Array(text.utf8).withUnsafeBytes {
            var parser = JSONParser($0)
            return parser.parse()
        }
    }

    @Test func values() {
        #expect(parse(#"  "a\n\u00e9\ud83d\ude00\"" "#)?.text == "a\né😀\"")
        #expect(parse("[1, -2.5e3, true, null]")?.text == "1 -2.5e3 true null")
        #expect(parse(#"{"a":{"b":[]},"c":""}"#)?.text == "a=b= c=")
    }

    @Test(
        arguments: [
            "", "{", "[1,", #"{"a"}"#, #"{"a":1,}"#, "tru", #""\u12"#, #""abc"#, "1 2", "01", "-", "1.", ".5", "+1",
            "1e", "1e+",
            String(repeating: "[", count: 1000),
        ])
    func refusals(_ text: String) { #expect(parse(text) == nil) }
}
