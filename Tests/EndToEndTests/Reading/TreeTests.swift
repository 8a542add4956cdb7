import TestSupport
import Testing

/// The tree is the true one, however frames are left: every call has its true caller and its true depth.
@Suite struct TreeTests {
    @Test(arguments: ["torture.cpp", "jumps.c", "coroutines.c", "cancelled.c"], Build.all)
    func everyCallHasItsCaller(_ source: String, _ build: Build) throws {
        try check(source, try Binaries.instrumented(source, build))
    }

    /// `longjmp` as a hardened build calls it: `__longjmp_chk`.
    @Test func fortifiedJumps() throws {
        let flags = ["-D_FORTIFY_SOURCE=2"]
        try check("jumps.c", try Binaries.instrumented("jumps.c", .gccO2, flags: flags, variant: "-fortified"))
    }

    /// Signal stacks, and coroutines' inside frames, lie where addresses say the wrong thing. What is not jumped over ends by
    /// its exit hook, and a mark is on the lane that it was set on.
    @Test(arguments: ["nested", "jump", "throw", "link", "inside", "gone"], Build.all)
    func stacksThatMislead(_ kind: String, _ build: Build) throws {
        let binary = try Binaries.instrumented("stacks.cpp", build)
        let directory = try TemporaryDirectory("stacks")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let recorded = try Fathom.record([binary, kind], into: session, environment: ["TRUTH": truth])
        #expect(recorded.status == 0)

        let dump = try Dump(session)
        expectSameTree(try dump.enters(), try Truth.calls(truth))
        let kinds = try dump.kinds()
        #expect(kinds["unwound", default: 0] == Self.unwound(kind, build))
        #expect(kinds["open", default: 0] == 0)
        var markedLanes: [Int?] = []
        try dump.forEach { line in if line.kind == "mark" { markedLanes.append(line.number(.lane)) } }
        #expect(markedLanes == (kind == "link" ? [0, 0, 0] : []))
    }

    /// Calls of `stacks.cpp` that end without their exit hook.
    private static func unwound(_ kind: String, _ build: Build) -> Int {
        // Three handlers jump over one call, over two, three and four. gcc's code calls exit hooks for what an exception passes.
        if kind == "jump" || kind == "throw" && build.compiler == .clang { return 30 }
        return kind == "gone" ? 2 : 0
    }

    /// Compares the recorded enters, in order, with what the program noted of itself.
    private func check(_ source: String, _ binary: String) throws {
        let directory = try TemporaryDirectory("tree")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let arguments = ["coroutines.c", "cancelled.c"].contains(source) ? [] : ["20000"]
        let plain = try run(binary, arguments)
        let recorded = try Fathom.record([binary] + arguments, into: session, environment: ["TRUTH": truth])
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.status == 0)

        expectSameTree(try Dump(session).enters(), try Truth.calls(truth))
    }
}

/// Compares recorded enters, in order, with what the program noted of itself.
func expectSameTree(
    _ found: [TrueCall], _ expected: [TrueCall], sourceLocation: SourceLocation = #_sourceLocation
) {
    // Fathom also sees the program's static constructors, before main.
    let start = found.firstIndex { $0.function == expected.first?.function } ?? 0
    let found = found[start...]
    #expect(found.count == expected.count, sourceLocation: sourceLocation)
    let wrong = zip(found, expected).enumerated().filter { $0.element.0 != $0.element.1 }
    let first = wrong.first.map { "call \($0.offset) is \($0.element.0), in truth \($0.element.1)" } ?? ""
    let wrongs = wrong.count
    #expect(wrongs == 0, "of \(expected.count); \(first)", sourceLocation: sourceLocation)
}
