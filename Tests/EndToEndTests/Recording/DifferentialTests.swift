import TestSupport
import Testing

/// Programs do what they do without Fathom, in every build and mode, and numbers that are known in two ways are equal.
/// `Tools/differential` tries any number of generated programs, and real ones.
@Suite struct DifferentialTests {
    @Test(arguments: ["csmith", "c++"], ["gcc-,hooks", "clang-,hooks", "gcc-,dormant", "clang-,dormant"])
    func nothingDiffers(_ programs: String, _ builds: String) throws {
        // Of these seeds, the compilers can build programs that end.
        let seeds = builds == "clang-,dormant" ? "3" : "5-6"
        try Self.expectSame(["--seeds", seeds, "--programs", programs, "--builds", builds])
    }

    /// Calls of the C library that fail, wait, are interrupted and cancelled.
    @Test(arguments: ["trace+memory", "trace+blocked", "counts"])
    func callsOfTheCLibrary(_ mode: String) throws {
        try Self.expectSame(["--seeds", "5-6", "--programs", "calls", "--builds", "gcc-,hooks", "--modes", mode])
    }

    private static func expectSame(_ options: [String]) throws {
        let tool = try run(
            "\(Binaries.repository)/Tools/differential",
            options + ["--no-shrink", "--jobs", "1", "--fathom", Fathom.executable])
        #expect(tool.status == 0, "\(tool.stdout)\(tool.stderr)")
        #expect(tool.stdout.contains("| program |"), "\(tool.stdout)")
    }
}
