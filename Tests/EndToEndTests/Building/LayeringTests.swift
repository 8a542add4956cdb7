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
        #expect(checked.stderr.contains("a circle of files that call each other: filter/head.c filter/tail.c"))
    }

    @Test func aCircleOfHeadersInARoom() throws {
        let checked = try check { rooms in
            try writeFile(Array("#include \"tail.h\"\n".utf8), to: "\(rooms)/follow/head.h")
            try writeFile(Array("#include \"../follow/head.h\"\n".utf8), to: "\(rooms)/follow/tail.h")
        }
        #expect(checked.status == 1)
        let circle = "CTraceRuntime/follow/head.h CTraceRuntime/follow/tail.h"
        #expect(checked.stderr.contains("a circle of files that include each other: \(circle)"))
    }

    /// Only one file may use the table of what open sleds lead to, which stands above it.
    @Test(arguments: ["session", "follow"])
    func theTableOfSleds(_ room: String) throws {
        let checked = try check { rooms in
            let text = "#include \"../session/sleds.h\"\nunsigned long planted(void) { return sled_targets[0]; }\n"
            try writeFile(Array(text.utf8), to: "\(rooms)/\(room)/planted.c")
        }
        #expect(checked.status == 1)
        #expect(
            checked.stderr.contains("\(room)/planted.c calls sled_targets, which is in entry/sled_hooks.c, above it"))
    }

    /// Whoever defines something weakly, and has it replaced above, calls upwards; so does a weak reference.
    @Test(arguments: [
        ("int above(void) { return 0; }", "entry", "has replaced"), ("int above(void);", "entry", "calls"),
        ("int above(void) { return 0; }", "../CTraceRuntimeImage", "has replaced"),
        ("extern int above(void);", "../CTraceRuntimeStatic", "calls"),
    ])
    func aWeakDefinition(_ declaration: String, _ room: String, _ how: String) throws {
        let checked = try check { rooms in
            let text = "__attribute__((weak)) \(declaration)\nint below(void) { return above && above(); }\n"
            try writeFile(Array(text.utf8), to: "\(rooms)/host/below.c")
            try writeFile(Array("int above(void) { return 1; }\n".utf8), to: "\(rooms)/\(room)/above.c")
        }
        #expect(checked.status == 1)
        let place = room.replacing("../", with: "")
        #expect(
            checked.stderr.contains("host/below.c \(how) above, which is in \(place)/above.c, above it"),
            "\(checked.stderr)")
    }

    @Test(arguments: [
        "void planted(void) { __asm__(\"syscall\"); }", "long planted = SYSTEM(getpid, 0, 0, 0, 0, 0, 0);",
    ])
    func aSystemCallOutsideOfTheLowestRoom(_ code: String) throws {
        let checked = try check { rooms in
            try writeFile(Array("\(code)\n".utf8), to: "\(rooms)/record/planted.c")
        }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("Sources/CTraceRuntime/record/planted.c makes system calls"))
    }

    /// What the lower rooms have of the public headers names nothing that is above.
    @Test func theFaceIsAbove() throws {
        let checked = try check { rooms in
            try writeFile(Array("#include \"CTraceRuntime.h\"\n".utf8), to: "\(rooms)/record/planted.h")
        }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("record/planted.h includes include/CTraceRuntime.h, which stands above it"))
    }

    @Test(arguments: ["loose.c", "attic/thing.c", "host/closet/thing.h", "follow/thing.S"])
    func aFileInNoRoom(_ file: String) throws {
        let checked = try check { rooms in
            try run("mkdir", ["-p", "\(rooms)/attic", "\(rooms)/host/closet"])
            try writeFile(Array("\n".utf8), to: "\(rooms)/\(file)")
        }
        #expect(checked.status == 1)
        #expect(checked.stderr.contains("Sources/CTraceRuntime/\(file) is in no room"))
    }

    /// The check of a copy of the sources, changed by `plant`, which is given the place of the runtime's rooms.
    private func check(_ plant: (String) throws -> Void) throws -> ProcessOutput {
        let copy = try TemporaryDirectory("layering")
        let repository = Binaries.repository
        try run("mkdir", [copy.file("Tools")])
        try run("cp", ["\(repository)/Tools/check-layering", copy.file("Tools")])
        try run("cp", ["\(repository)/Package.swift", copy.file("Package.swift")])
        try run("cp", ["-R", "\(repository)/Sources", copy.file("Sources")])
        try plant(copy.file("Sources/CTraceRuntime"))
        return try run(copy.file("Tools/check-layering"))
    }
}
