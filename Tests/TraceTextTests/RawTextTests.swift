import TestSupport
import Testing
import TraceText

/// What the system has is bytes: what goes into a String comes out again.
@Suite struct RawTextTests {
    @Test func comesOutAgain() {
        let samples: [[UInt8]] = [
            [], Array("plain".utf8), Array("Zürich 🌍 \u{10ffff}".utf8), [0xff], [0x5a, 0xfc, 0x72], [0xc3],
            [0xc3, 0x28],
            [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0x80],
            [0xf0, 0x9f, 0x8c, 0x8d, 0xff, 0xc3, 0xa9],
            Array("\u{10f7ff}".utf8), Array("a\u{10f780}".utf8) + [0x80], (0x01...0xff).map { UInt8($0) },
        ]
        for bytes in samples {
            let text = String(raw: bytes)
            #expect(text.rawBytes == bytes, "\(bytes)")
            #expect(text.rawCString.map { UInt8(bitPattern: $0) } == bytes + [0])
            #expect(text.withRawCString { String(rawCString: $0) } == text || bytes.contains(0))
            #expect(text.holdsRawBytes == (String(validating: bytes, as: UTF8.self) != text), "\(bytes)")
            #expect(String(raw: text.utf8).rawBytes == Array(text.utf8), "again: \(bytes)")
        }
    }

    /// Pieces may be put together and taken apart.
    @Test func pieces() {
        let path = String(raw: [0x2f, 0xe9, 0x2f]) + "é" + String(raw: [0xff])
        #expect(path.rawBytes == [0x2f, 0xe9, 0x2f, 0xc3, 0xa9, 0xff])
        #expect(path.split(separator: "/").map { String($0).rawBytes } == [[0xe9], [0xc3, 0xa9, 0xff]])
    }

    /// A shell takes it back.
    @Test func isShown() {
        #expect(String(raw: [0x61, 0xff]).visible == "a\\xff")
        #expect(CommandText.line([String(raw: [0x61, 0xff]), "é"]) == "$'a\\xff' é")
    }
}
