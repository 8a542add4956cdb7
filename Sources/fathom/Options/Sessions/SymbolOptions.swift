internal import ArgumentParser
internal import Glibc

/// Where names come from besides the programs themselves.
struct SymbolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Look here for the symbols of stripped programs: an unstripped program, a file of debug information, or a \
            directory that holds some, anywhere in it and by any name: build-ids tell.
            """, valueName: "file|dir"), completion: .file())
    var symbols: [String] = []

    /// Returns the files and directories, all of which can be read, or ends the command.
    func readable() throws -> [String] {
        for path in symbols where access(path, R_OK) != 0 {
            throw Diagnostics.fail("--symbols \(path): \(String(cString: strerror(errno)))", .failed)
        }
        return symbols
    }
}
