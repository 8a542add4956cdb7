internal import ArgumentParser
internal import Glibc

/// Names of files that were given as arguments.
enum FileName {
    /// Refuses an empty name, and one that is not the one that was given: what is not UTF-8 cannot be in a String, which would name another
    /// file.
    ///
    /// - Throws: bad usage, or exit status 64, the reason said.
    static func check(_ name: String) throws {
        if name.isEmpty { throw ValidationError("the name of a file or session is empty") }
        guard name.unicodeScalars.contains("\u{fffd}") else { return }
        let given = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).compactMap { $0 }
        let isRepaired = given.contains { String(validatingCString: $0) == nil && String(cString: $0).contains(name) }
        guard isRepaired else { return }
        throw Diagnostics.fail(
            "\(name): the names of sessions, programs and output files are to be UTF-8; rename it, or give a link to it",
            .wrongUsage)
    }
}
