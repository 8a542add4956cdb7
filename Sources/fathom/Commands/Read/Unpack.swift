internal import ArgumentParser
internal import Glibc
internal import TraceFile
internal import TraceText

struct Unpack: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a session directory of a packed session again.",
        usage: "fathom unpack [<options>] <session>",
        discussion: "Every record is as it was, byte by byte. No command needs this: all of them read packed sessions.",
        examples: [
            ("fathom unpack prog.fathomz", "Makes the directory prog.fathom."),
            ("fathom unpack prog.fathomz -o plain.fathom", "Makes it under that name."),
        ])

    @Argument(
        help: ArgumentHelp("A packed session, or one that was recorded with --compress.", valueName: "session"),
        completion: .session)
    var given: String

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            "The directory to make; a session that is there is renamed to <directory>.old (default: <session>.fathom).",
            valueName: "directory"), completion: .directory)
    var output: String?

    func run() throws {
        let session = try openSession(given)
        if session.isRecording { throw Diagnostics.fail("\(session.path) is still being recorded", .failed) }
        guard session.isPacked else { throw Diagnostics.fail("\(session.path) is not packed", .nothing) }
        let isFile = session.path.hasSuffix(".fathomz")
        guard let path = output ?? (isFile ? String(session.path.dropLast()) : nil) else {
            throw ValidationError("name the directory to make: -o")
        }
        try FileName.check(path)
        var (old, new) = (stat(), stat())
        if stat(session.path, &old) == 0, stat(path, &new) == 0, (old.st_dev, old.st_ino) == (new.st_dev, new.st_ino) {
            throw Diagnostics.fail("\(path) is the session itself; choose another directory with -o", .failed)
        }
        do { try session.unpack(to: path, progress: Diagnostics.progress("unpacking")) } catch {
            throw Diagnostics.fail("\(error)", .failed)
        }
        Diagnostics.say("\(path): \(CountText.size(UInt64(try openSession(path).logSize))) of records")
        Diagnostics.warn(session.damage.entries.map(\.description), of: session)
    }
}
