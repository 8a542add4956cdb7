import TestSupport
import Testing
import TraceText

@testable import TraceExport

@Suite struct CompressionTests {
    /// Bytes that compress partly: longer than all buffers.
    private static let sample: [UInt8] = (0..<700_000).map {
        UInt8(truncatingIfNeeded: $0 % 7 == 0 ? $0 * $0 >> 5 : $0 >> 9)
    }

    @Test(arguments: [("x.json.gz", "gzip"), ("x.gz.zst", "zstd")], [[], [1], sample])
    func whatIsCompressedIsThereAgain(_ kind: (name: String, program: String), _ bytes: [UInt8]) throws {
        let directory = try TemporaryDirectory("compressed")
        var written: [UInt8] = []
        let output = ByteWriter { piece in
            written.append(contentsOf: piece)
            return true
        }
        let compressor = try #require(Compression(ofFile: kind.name).compressor(onto: output))
        // In pieces of all sizes.
        var rest = bytes[...]
        var size = 1
        while !rest.isEmpty {
            compressor.writer.write(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            size = size * 3 % 200_003 + 1
        }
        compressor.finish()
        output.flush()
        try writeFile(written, to: directory.file("file"))
        let read = try run("sh", ["-c", "\(kind.program) -dc <\(directory.file("file")) >\(directory.file("plain"))"])
        #expect(read.status == 0, "\(read.stderr)")
        #expect(try readFile(directory.file("plain")) == bytes)
        if bytes.count > 1000 { #expect(written.count < bytes.count / 2) }
    }

    @Test(arguments: ["x", "gz", "x.json", "x.gz/y"]) func otherNamesAreNotCompressed(_ name: String) {
        let compressor = Compression(ofFile: name).compressor(onto: ByteWriter { _ in true })
        #expect(compressor == nil)
    }
}
