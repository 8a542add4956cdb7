import CTraceFormat
import Testing

@testable import TraceFile

@Suite struct ArgumentLayoutTests {
    private func values(_ layout: ArgumentLayout, _ bytes: [UInt8]) -> [String] {
        ([7, 0, 0, 0] + bytes).withUnsafeBytes { bytes in
            RecordedArguments(start: bytes.baseAddress, count: bytes.count).values(by: [7: layout])
                .map { "\($0.name)=\($0.value)" }
        }
    }

    private func layout(_ kinds: ArgumentLayout.Kind...) -> ArgumentLayout {
        ArgumentLayout(kinds.enumerated().map { ArgumentLayout.Value(name: "a\($0.offset)", kind: $0.element) })
    }

    @Test func numbers() {
        let all = layout(
            .signed(1), .unsigned(1), .signed(4), .bool(1), .character(1), .floating(4), .pointer(8), .pointer(8))
        let found = values(
            all,
            [
                0, 0xff, 0, 0xff, 0, 0xfe, 0xff, 0xff, 0xff, 0, 1, 0, 0x27, 0, 0, 0, 0xc0, 0x3f, 0, 0x10, 0, 0, 0, 0, 0,
                0, 0,
            ]
                + [UInt8](repeating: 0, count: 9))
        #expect(found == ["a0=-1", "a1=255", "a2=-2", "a3=true", "a4='\\''", "a5=1.5", "a6=0x10", "a7=null"])
    }

    @Test func enumerations() {
        let flags = ArgumentLayout.Kind.enumeration(1, isSigned: false, cases: [1: "READ", 2: "WRITE", 200: "ALL"])
        #expect(
            values(layout(flags, flags, flags, flags), [0, 2, 0, 3, 0, 200, 0, 4])
                == ["a0=WRITE", "a1=READ|WRITE", "a2=ALL", "a3=4"])
    }

    /// Bytes that are no text are written out, and a character that the cut went through is left out.
    @Test func texts() {
        let found = values(
            layout(.text, .text, .text, .text),
            [1, 3, 0, 0x61, 0x22, 0xff, 2, 2, 0, 0x62, 0xc3, 3, 4])
        #expect(found == [#"a0="a\"\xff""#, #"a1="b…""#, "a2=<unreadable>", "a3=null"])
    }

    /// Whatever a record holds, reading it ends.
    @Test func recordsThatEndEarly() {
        let all = layout(.signed(4), .optimizedOut, .aggregate, .text, .signed(4))
        #expect(
            values(all, [0, 1, 0, 0, 0, 1, 9, 0, 65])
                == ["a0=1", "a1=<optimized out>", "a2={…}", "a3=<left out>", "a4=<left out>"])
        #expect(values(all, []).count == 5)
    }

    @Test func text() {
        let all = layout(
            .signed(8), .unsigned(2), .bool(1), .character(4), .floating(10), .pointer(8), .text, .optimizedOut,
            .aggregate,
            .enumeration(4, isSigned: true, cases: [-1: "NONE", 3: "SOME"]))
        #expect(ArgumentLayout(text: all.text) == all)
        // A kind that is not known ends it.
        #expect(ArgumentLayout(text: "i4\ta\nq9\tb\ni4\tc").values.count == 1)
    }
}
