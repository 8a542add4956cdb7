internal import CArguments
internal import Glibc
internal import TraceSystem
internal import TraceText

/// Where the parts of Fathom lie.
public enum Installation {
    /// The running executable.
    public static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) ?? realpath(fathom_executed_path(), nil) else {
            return "fathom"
        }
        defer { free(path) }
        return String(rawCString: path)
    }

    /// libfathom.so.
    public static var runtimeLibrary: String { part("libfathom.so") }

    /// What goes into builds of Swift code.
    public static var swiftTools: SwiftBuild.Tools {
        SwiftBuild.Tools(
            program: executable, hooks: part("libfathom-swift.o"),
            staticRuntime: part("libfathom.static"), sleds: sleds)
    }

    /// What goes into shared libraries of C and C++.
    public static var sharedLibraryHooks: String { part("libfathom-shared.o") }

    /// What goes into products with sleds.
    public static var sleds: String { part("libfathom-sleds.o") }

    /// What a static link needs beside the program's own objects.
    public static var staticLinkArguments: String { "-L\(directory) @" + part("libfathom.static") }

    /// Directories of links to Fathom that are called as compilers are, those that usually come together in one; none where
    /// Fathom is not installed. They stay where they are for as long as Fathom does.
    static var compilers: [String] {
        let directory = part("compilers")
        return (Directory.names(in: directory) ?? []).sorted().map { "\(directory)/\($0)" }
    }

    /// The directory with a link to Fathom that is called as the assembler is; nil where Fathom is not installed.
    static var assembler: String? {
        let directory = part("assembler")
        return "\(directory)/\(StandInAssembler.name)".withRawCString { access($0, X_OK) } == 0 ? directory : nil
    }

    /// Paths of those parts that are not there.
    public static var missingParts: [String] {
        [
            "libfathom.so", "libfathom.a", "libfathom.static", "libfathom-swift.o", "libfathom-shared.o",
            "libfathom-sleds.o",
        ].map(part).filter { $0.withRawCString { access($0, R_OK) } != 0 }
    }

    private static func part(_ name: String) -> String { "\(directory)/\(name)" }

    /// The directory of all parts but the executable: where that lies when it was built there, and otherwise lib/fathom
    /// next to the directory bin that it was installed into.
    private static var directory: String {
        let beside = parent(executable)
        return "\(beside)/libfathom.so".withRawCString { access($0, F_OK) } == 0
            ? beside : "\(parent(beside))/lib/fathom"
    }

    private static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
