internal import ArgumentParser
internal import Glibc
internal import TraceText

/// Names of files that were given as arguments.
enum FileName {
    /// What stands behind the last dot of the last component, in lower case; empty where there is no dot.
    static func ending(_ path: String) -> String {
        let name = PathText.name(path)
        return name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    /// Refuses an empty name, and one that is not UTF-8: other programs, and the files of a session, have such names as text.
    ///
    /// - Throws: bad usage, or exit status 64, the reason said.
    static func check(_ name: String) throws {
        if name.isEmpty { throw ValidationError("the name of a file or session is empty") }
        guard name.holdsRawBytes else { return }
        throw Diagnostics.fail(
            "\(name): the names of sessions, programs and output files are to be UTF-8; rename it, or give a link to it",
            .wrongUsage)
    }
}
