internal import ArgumentParser
internal import Glibc

/// Where names come from besides the programs themselves.
struct SymbolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Look here for the symbols of stripped programs: an unstripped program, a file of debug information, or a \
            directory that holds some, by name or by build-id.
            """, valueName: "file|dir"), completion: .file())
    var symbols: [String] = []

    func validate() throws {
        for path in symbols where access(path, R_OK) != 0 {
            throw ValidationError("--symbols \(path): \(String(cString: strerror(errno)))")
        }
    }
}
