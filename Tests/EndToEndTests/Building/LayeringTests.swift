import TestSupport
import Testing

/// Tools/check-layering knows which room of the runtime stands above which, and finds what points the wrong way.
struct LayeringTests {
    @Test func theRuntimePasses() throws {
        let checked = try check { _ in }
        #expect(checked.status == 0, "\(checked.stderr)")
    }

    @Test func aHeaderOfAHigherRoom() throws {
        let checked = try check { rooms in
            try writeFile(Array("#include \"../entry/above.h\"\n".utf8), to: "\(rooms)/follow/below.c")
            try writeFile(Array("\n".utf8), to: "\(rooms)/entry/above.h")
        }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("follow/below.c includes entry/above.h, which stands above it"))
    }

    @Test func aCallOfAHigherRoom() throws {
        let checked = try check { rooms in
            try writeFile(Array("void above(void);\nvoid below(void) { above(); }\n".utf8), to: "\(rooms)/host/below.c")
            try writeFile(Array("void above(void) {}\n".utf8), to: "\(rooms)/record/above.c")
        }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("host/below.c calls above, which is in record/above.c, above it"))
    }

    @Test func aCircleInARoom() throws {
        let checked = try check { rooms in
            try writeFile(Array("void tail(void);\nvoid head(void) { tail(); }\n".utf8), to: "\(rooms)/filter/head.c")
            try writeFile(Array("void head(void);\nvoid tail(void) { head(); }\n".utf8), to: "\(rooms)/filter/tail.c")
        }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("a circle of files"))
        #expect(checked.stderr.contains("filter/head.c") && checked.stderr.contains("filter/tail.c"))
    }

    @Test func aRoomThatNobodyKnows() throws {
        let checked = try check { rooms in try run("mkdir", ["\(rooms)/attic"]) }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("attic is no room"))
    }

    /// The check of a copy of the sources, changed by `plant`, which is given the place of the runtime's rooms.
    private func check(_ plant: (String) throws -> Void) throws -> ProcessOutput {
        let copy = try TemporaryDirectory("layering")
        let repository = Binaries.repository
        try run("mkdir", [copy.file("Tools")])
        try run("cp", ["\(repository)/Tools/check-layering", copy.file("Tools")])
        try run("cp", ["-R", "\(repository)/Sources", copy.file("Sources")])
        try plant(copy.file("Sources/CTraceRuntime"))
        return try run(copy.file("Tools/check-layering"))
    }
}
