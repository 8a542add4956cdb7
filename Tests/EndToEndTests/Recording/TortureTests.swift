import TestSupport
import Testing

/// Random programs that leave functions in every way there is, and know the true stack of each of their calls
/// (`Traces/torture`): every call is there, in order, with its caller. `Tools/torture` tries any number of them.
@Suite struct TortureTests {
    @Test(arguments: [2, 3, 7], [Build.gccO2, .clangO0, .clangO2])
    func everyCallHasItsCaller(_ seed: Int, _ build: Build) throws {
        try Self.expectRight(["\(seed)", "--calls", "600", "--builds", Self.name(build)])
    }

    #if arch(x86_64)
        /// The same where functions have sleds, which a recording opens. The last two run coroutines on arrays in frames, one
        /// behind the other in the same place, and jump on them.
        @Test(arguments: [2, 3, 91003, 91005], ["gcc", "clang"]) func dormantPrograms(_ seed: Int, _ compiler: String)
            throws
        {
            try Self.expectRight(["\(seed)", "--calls", "400", "--builds", "\(compiler)-O2-dormant"])
        }
    #endif

    /// Whoever is killed, and whenever: what is left has no damage, and tells how each thread began.
    @Test(arguments: ["trace", "flight", "profile", "counts", "stack"]) func kills(_ mode: String) throws {
        try Self.expectRight([
            "3", "--calls", "1000", "--kills", "10", "--builds", "gcc-O2", "--record", "--mode \(mode)",
        ])
    }

    /// Selecting functions while recording keeps what selecting them while reading shows.
    @Test(arguments: [4, 12, 13], Build.two)
    func selectedFunctions(_ seed: Int, _ build: Build) throws {
        try Self.expectRight(["\(seed)", "--calls", "600", "--filters", "3", "--builds", Self.name(build)])
    }

    private static func name(_ build: Build) -> String { "\(build.compiler.rawValue)-O\(build.level)" }

    /// Expects that `Tools/torture` finds nothing wrong in what it records.
    static func expectRight(_ options: [String], by fathom: String = Fathom.executable) throws {
        let tool = try run("\(Binaries.repository)/Tools/torture", options + ["--fathom", fathom])
        #expect(tool.status == 0, "\(tool.stdout)\(tool.stderr)")
        #expect(tool.stdout.contains(" 0 wrong"), "\(tool.stdout)")
    }
}
