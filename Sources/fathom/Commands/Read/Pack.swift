internal import ArgumentParser
internal import Glibc
internal import TraceFile
internal import TraceQuery
internal import TraceSystem
internal import TraceText

struct Pack: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a session into one small file, which every command reads as it is.",
        usage: "fathom pack [<options>] [<session>]",
        discussion: """
            The file holds the names and lines of what was recorded, so it can be read where the program is not. A call takes about \
            half a byte where the processor's clock is coarse, and one and a half where it is fine.
            """,
        examples: [
            ("fathom pack prog.fathom", "Makes prog.fathomz."),
            ("fathom pack prog.fathom --sources -o all.fathomz", "Adds the source files, which browse shows then."),
        ])

    @Argument(
        help: ArgumentHelp("A session; the newest session here if left out.", valueName: "session"),
        completion: .session)
    var given: String?

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            "The file to write; a packed session that is there is replaced (default: <session>.fathomz).",
            valueName: "file"), completion: .file())
    var output: String?

    @Flag(
        help:
            "Keep the source files, too, in which recorded functions are: those that nobody has changed since the recording."
    )
    var sources = false

    func run() throws {
        let session = try openSession(given ?? newestSession())
        // Of a packed session, the names and sources are made anew.
        let path =
            output
            ?? (session.path.hasSuffix(".fathomz")
                ? session.path : SessionDirectory.stem(of: session.path) + ".fathomz")
        try FileName.check(path)
        let isNew = access(path, F_OK) != 0
        if !isNew, !Session.isPacked(path) || Session.isPart(path) {
            throw Diagnostics.fail(
                "\(path) exists and is no packed session, so it is left alone; choose another file with -o", .failed)
        }
        let packing = try SessionPacking(session, keepsSources: sources)
        do {
            let file = try NewFile(replacing: path)
            // Like a session, it is readable by its owner alone.
            if isNew { fchmod(file.descriptor, 0o600) }
            file.fail(try packing.write(to: file.descriptor, progress: Diagnostics.progress("packing")))
            try file.commit()
        } catch let error as SystemError {
            throw Diagnostics.fail(error.description, .failed)
        } catch let error as TraceFileError {
            throw Diagnostics.fail("\(error)", .failed)
        }
        Diagnostics.say(summary(of: session, path))
        if !packing.missingSources.isEmpty {
            let names = packing.missingSources.map(PathText.name), shown = names.prefix(5).joined(separator: ", ")
            Diagnostics.warn(
                "\(CountText.counted(UInt64(names.count), "source file")) of the program were changed since, or are not there, and are left out: "
                    + shown + (names.count > 5 ? " …" : ""))
        }
        Diagnostics.warn(session.damage.entries.map(\.description), of: session)
    }

    private func summary(of session: Session, _ path: String) -> String {
        var status = stat()
        stat(path, &status)
        let size = "\(path): \(CountText.size(UInt64(status.st_size)))"
        let calls = session.processes.flatMap(\.threads).reduce(0) { $0 + $1.countCalls() }
        guard session.content == .calls, calls > 0 else { return size }
        let each = CountText.fixed(Double(status.st_size) / Double(calls), 2)
        return "\(size) for \(CountText.counted(calls, "call")), \(each) bytes each"
    }
}
