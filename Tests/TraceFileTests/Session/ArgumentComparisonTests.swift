import CTraceFormat
import Testing

@testable import TraceFile

/// What conditions on arguments mean, and for which values they hold.
@Suite struct ArgumentComparisonTests {
    private func test(_ text: String, _ kind: ArgumentLayout.Kind) -> ArgumentTest? {
        ArgumentComparison.list("x\(text))"[...])?.comparisons.first?.test(of: kind)
    }

    private func holds<Value>(
        _ text: String, _ kind: ArgumentLayout.Kind, _ value: Value, how: UInt32 = FATHOM_VALUE
    ) -> Bool? {
        test(text, kind).map { test in withUnsafeBytes(of: value) { test.holds(how: how, $0) } }
    }

    private func holds(_ text: String, _ value: String, how: UInt32 = FATHOM_VALUE_TEXT) -> Bool? {
        test(text, .text).map { test in Array(value.utf8).withUnsafeBytes { test.holds(how: how, $0) } }
    }

    @Test func lists() throws {
        let (list, rest) = try #require(ArgumentComparison.list(#"path == "a\")\n", r->id>=-7&&*n<0x1f)>2ms"#[...]))
        #expect(list.map(\.name) == ["path", "r->id", "*n"])
        #expect(list[0].literal == .text(Array("a\")\n".utf8)))
        #expect(list[1].literal == .integer(isNegative: true, 7) && list[1].test == FATHOM_TEST_AT_LEAST)
        #expect(list[2].literal == .integer(isNegative: false, 31) && rest == ">2ms")
        for text in ["", ")", "int)", "a==)", "a=7)", "a==7", "a==\"x)", "a==7;b==8)", "a=='xy')"] {
            #expect(ArgumentComparison.list(text[...]) == nil, "\(text)")
        }
    }

    @Test func numbers() {
        #expect(holds("<0", .signed(2), Int16(-3)) == true)
        #expect(holds("==-3", .signed(8), Int64(-3)) == true)
        #expect(holds(">7", .unsigned(1), UInt8(200)) == true)
        #expect(holds(">18446744073709551614", .unsigned(8), UInt64.max) == true)
        #expect(holds("==-1", .unsigned(4), UInt32.max) == nil)
        #expect(holds("==true", .bool(1), UInt8(1)) == true)
        #expect(holds("=='a'", .character(1), UInt8(97)) == true)
        #expect(holds("==null", .pointer(8), UInt64(0)) == true)
        #expect(holds("!=0x10", .pointer(8), UInt64(16)) == false)
        #expect(holds("==1", .signed(4), Int32(1), how: FATHOM_VALUE_UNREADABLE) == false)
        #expect(holds("!=1", .signed(4), Int32(1), how: FATHOM_VALUE_UNREADABLE) == false)
    }

    /// The bits have the order of the numbers.
    @Test func floatingPoint() {
        let values: [Double] = [-.infinity, -3.5, -0.25, -0.0, 0, 0.25, 3.5, 1e300, .infinity]
        for left in values {
            for right in values where right.isFinite {
                #expect(holds("<\(right)", .floating(8), left) == (left < right), "\(left) \(right)")
                #expect(holds("==\(right)", .floating(8), left) == (left == right), "\(left) \(right)")
                let (a, b) = (Float(left), Float(right))
                if b.isFinite { #expect(holds(">=\(b)", .floating(4), a) == (a >= b), "\(a) \(b)") }
            }
        }
        #expect(holds("<1", .floating(8), Double.nan) == false)
        #expect(holds("!=1", .floating(8), Double.nan) == true)
        #expect(holds("==-0.25", .floating(4), Float(-0.25)) == true)
    }

    @Test func enumerations() {
        let kind = ArgumentLayout.Kind.enumeration(4, isSigned: false, cases: [1: "READ", 2: "WRITE"])
        #expect(holds("==WRITE", kind, UInt32(2)) == true)
        #expect(holds("==mode::READ|WRITE", kind, UInt32(3)) == true)
        #expect(holds("!=2", kind, UInt32(2)) == false)
        #expect(holds("==RUN", kind, UInt32(2)) == nil)
    }

    @Test func texts() {
        #expect(holds(#"=="/slow""#, "/slow") == true)
        #expect(holds(#"=="/slow""#, "/slower") == false)
        #expect(holds(#"=="/slow""#, "/slow", how: FATHOM_VALUE_CUT) == false)
        #expect(holds(#">"/slow""#, "/slow", how: FATHOM_VALUE_CUT) == true)
        #expect(holds(#"<"b""#, "abc") == true && holds(#"<"""#, "a") == false && holds(#"=="""#, "") == true)
        #expect(holds("==null", "x") == false && holds("!=null", "x") == true)
        #expect(holds("==null", "", how: FATHOM_VALUE_NULL) == true)
        #expect(holds(#"!="x""#, "", how: FATHOM_VALUE_NULL) == true)
        #expect(holds("==7", "7") == nil)
    }
}
