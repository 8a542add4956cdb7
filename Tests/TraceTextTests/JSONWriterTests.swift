import Testing

@testable import TraceText

@Suite struct JSONWriterTests {
    /// What is written, in pieces of `capacity` bytes.
    private func written(capacity: Int = 1 << 16, _ body: (JSONWriter) -> Void) -> String {
        var bytes: [UInt8] = []
        let writer = ByteWriter(capacity: capacity) { piece in
            bytes.append(contentsOf: piece)
            return true
        }
        body(writer.json)
        writer.flush()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func valuesOfEveryKind() {
        let text = written { json in
            json.object {
                json.field("text", "a \"b\"")
                json.field("fixed", "c" as StaticString)
                json.field("least", Int64.min)
                json.field("most", UInt64.max)
                json.field("half", 0.5)
                json.field("infinite", -Double.infinity)
                json.field("nothing", nil as Int?)
                json.field("true", true)
                json.field("list", [1, nil, -3])
                json.field("raw", raw: "1.50")
                json.field("address", hexadecimal: 0xab)
                json.name(of: "\n")
                json.null()
            }
        }
        #expect(
            text
                == #"{"text":"a \"b\"","fixed":"c","least":-9223372036854775808,"most":18446744073709551615,"half":0.5,"#
                + #""infinite":null,"nothing":null,"true":true,"list":[1,null,-3],"raw":1.50,"#
                + #""address":"0xab","\n":null}"#
        )
    }

    @Test func commasAndLines() {
        let text = written { json in
            json.document {
                json.object("empty") {}
                json.array("none") {}
                json.line().objects("each", 1...2, .each) { json.field("n", $0) }
                json.line().array("but_first", 1...2, .allButFirst) { json.value($0) }
                json.object("texts", [("a", "b"), ("c", "d")])
                json.array("nested", 1...2) { number in json.array(1...2) { json.value(number * $0) } }
            }
        }
        #expect(
            text == """
                {"empty":{},"none":[],
                "each":[
                {"n":1},
                {"n":2}],
                "but_first":[1,
                2],"texts":{"a":"b","c":"d"},"nested":[[1,2],[2,4]]}

                """)
    }

    /// The comma follows from the byte before, which may have been handed on already, alone or in a text that is longer than the
    /// buffer, and may be one in a text that looks like JSON.
    @Test func commasBehindWhatWasHandedOn() {
        func write(_ json: JSONWriter) {
            json.array(0..<100) { number in
                json.value(String(repeating: "[", count: number))
                json.object { json.field("a:{", number) }
            }
        }
        #expect(written(capacity: 64, write) == written(write))
        #expect(!written(write).contains(",,"))
        #expect(!written(write).contains("\"{"))
    }

    @Test func textsThatStandInPages() {
        let bytes = ByteWriter.bytes { JSONWriter($0, isEmbedded: true).value("a</script>]]>\"\u{1f}") }
        #expect(String(decoding: bytes, as: UTF8.self) == #""a\u003c/script\u003e]]\u003e\"\u001f""#)
    }

    @Test func endsWhenNobodyReads() {
        var asked = 0
        let writer = ByteWriter(capacity: 64) { _ in false }
        writer.json.array(0..<1_000_000) { number in
            asked += 1
            writer.json.value(number)
        }
        #expect(asked < 100)
    }
}
