internal import Glibc
import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

/// Compares what is written with the file `name` in the folder beside this one. `FATHOM_BLESS=1` writes the file anew.
func expectGolden(_ name: String, _ write: (ByteWriter) throws -> Void) throws {
    let bytes = try ByteWriter.bytes(write)
    let path = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Golden/" + name
    if let value = getenv("FATHOM_BLESS"), String(cString: value) == "1" {
        try writeFile(bytes, to: path)
    } else {
        #expect(String(decoding: bytes, as: UTF8.self) == String(decoding: try readFile(path), as: UTF8.self))
    }
}

/// The article of a page: what Swift writes of it.
func article(of page: [UInt8]) throws -> [UInt8] {
    let text = String(decoding: page, as: UTF8.self)
    let begin = try #require(text.firstRange(of: "<article")), end = try #require(text.firstRange(of: "</article>"))
    return Array((text[begin.lowerBound..<end.upperBound] + "\n").utf8)
}

/// Does so with each format of a report: `name.txt`, `name.json` and so on.
func expectGoldens<Format: CaseIterable & RawRepresentable<String>>(
    _ name: String, _ write: (Format, ByteWriter) throws -> Void
) throws {
    for format in Format.allCases {
        let ending = ["text": "txt", "markdown": "md", "junit": "xml"][format.rawValue] ?? format.rawValue
        try expectGolden("\(name).\(ending)") { writer in
            if format.rawValue != "html" { return try write(format, writer) }
            writer.write(try article(of: ByteWriter.bytes { try write(format, $0) }))
        }
    }
}

/// A function of a table that is made by hand.
func function(_ name: String, file: String? = nil, line: Int = 0) -> ResolvedFunction {
    ResolvedFunction(name: name, module: "/opt/program", file: file, line: line)
}

/// A session of one thread, which makes the calls that `record` writes.
func madeSession(_ record: (inout RecordWriter) throws -> Void) throws -> Session {
    let directory = try TemporaryDirectory("golden")
    try TraceWriter.session(directory.file("x.fathom"), record)
    return try Session(path: directory.file("x.fathom"))
}

/// The call paths of a session, whose functions `resolve` names by their addresses.
func madeTree(
    of session: Session, _ cost: TracingCost? = nil, resolve: @escaping (UInt64) -> ResolvedFunction
) -> CallPathTree {
    let resolver = FunctionResolver(FunctionTable { _, address in resolve(address) })
    return Aggregation(of: session, resolver: resolver, filter: TreeFilter(), cost: cost)
        .tree(of: session.processes.flatMap(\.threads))
}
