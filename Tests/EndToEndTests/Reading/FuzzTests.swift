import TestSupport
import Testing

/// Damaged copies of small sessions, each read by one command or another: `Tools/fuzz` does the same at length.
@Suite struct FuzzTests {
    private func fuzz(
        _ session: String, _ directory: TemporaryDirectory, first: Int, by source: String = "fuzz_damage.c"
    ) throws {
        let fuzzer = try Binaries.make(
            source, command: "gcc",
            ["-O2", "-Wall", "-Wextra", "-Werror", "-I\(Binaries.repository)/Sources/CTraceFormat/include"],
            ["\(Binaries.sources)/\(source)"])
        let output = try run(
            fuzzer, [Fathom.executable, session, directory.file("scratch"), "\(first)", "60"], seconds: 300)
        #expect(output.status == 0, "\(output.stdout)\(output.stderr)")
    }

    @Test func manyProcesses() throws {
        let directory = try TemporaryDirectory("fuzz")
        let binary = try Binaries.instrumented("subshells.c", .gccO2)
        #expect(try Fathom.record([binary, "5"], into: directory.file("d")).status == 0)
        try fuzz(directory.file("d"), directory, first: 0)
    }

    @Test func manyChunks() throws {
        let directory = try TemporaryDirectory("fuzz")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(
            try Fathom.record([binary, "17"], into: directory.file("d"), options: ["-q", "--buffer-size", "16K"]).status
                == 0)
        try fuzz(directory.file("d"), directory, first: 1000)
    }

    @Test func packed() throws {
        let directory = try TemporaryDirectory("fuzz")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(
            try Fathom.record([binary, "17"], into: directory.file("d"), options: ["-q", "--buffer-size", "16K"]).status
                == 0)
        #expect(try Fathom.run(["pack", directory.file("d"), "-o", directory.file("d.fathomz")]).status == 0)
        try fuzz(directory.file("d.fathomz"), directory, first: 0, by: "fuzz_packed.c")
    }

    @Test func keptSums() throws {
        let directory = try TemporaryDirectory("fuzz")
        let binary = try Binaries.instrumented("paths.c", .gccO2)
        #expect(try Fathom.record([binary, "4000", "20", "fork"], into: directory.file("d")).status == 0)
        try fuzz(directory.file("d"), directory, first: 0, by: "fuzz_kept.c")
    }
}
