internal import ArgumentParser
internal import Glibc
internal import TraceFile
internal import TraceServe
internal import TraceText

struct View: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Look through a recording, or at what has changed between two, in a web browser, which this machine serves for itself alone.",
        usage: "fathom view [<options>] [<session>]\nfathom view [<options>] <before> <after>",
        discussion: """
            The address that is printed holds a secret: whoever knows it, and is on this machine, sees the recording. Ctrl-C ends \
            the server; to close the page does not.
            """,
        examples: [
            ("fathom view prog.fathom", "Serves the page at a free port, and opens it with $BROWSER or xdg-open."),
            (
                "fathom view prog.fathom --port 8087 --no-browser",
                "Serves it at a port of your choice, for a browser that you open yourself."
            ),
            (
                "fathom view server.fathom --follow",
                "Shows the last 10 seconds of what is being recorded, and moves along."
            ),
            (
                "fathom view prog.fathom --save prog.html",
                "Writes a page that has all inside, to send to others."
            ),
            ("fathom view before.fathom after.fathom", "Shows what is after, and how it differs from what is before."),
        ])

    @Argument(
        help: ArgumentHelp(
            "A session, packed or not, or a program recorded into PROGRAM.fathom; the newest session here if left out. Of two, the difference is shown: before, and after.",
            valueName: "session"), completion: .session)
    var given: [String] = []

    @Option(help: ArgumentHelp("The port of 127.0.0.1 to serve at (default: any that is free).", valueName: "number"))
    var port: UInt16?

    @Flag(help: "Do not open the page, but only print its address.")
    var noBrowser = false

    @Flag(
        help: """
            Keep the end of a recording that goes on in view. Without it, all of the recording is shown, and grows as well.
            """)
    var follow = false

    @Option(
        help: ArgumentHelp(
            "Write a page that needs nothing but itself, of some 8 MB at most, in place of serving one. Of a long recording, short calls are summed, and the page says so.",
            valueName: "file"),
        completion: .file())
    var save: String?

    func validate() throws {
        if given.count > 2 { throw ValidationError("give one session, or two: before and after") }
        if save != nil, port != nil || noBrowser || follow {
            throw ValidationError("--save writes a page: --port, --no-browser and --follow are for one that is served")
        }
        if save != nil, given.count > 1 { throw ValidationError("--save writes a page of one session") }
    }

    func run() throws {
        if let save { return try write(to: save) }
        let session = try viewed(given.last ?? newestSession())
        let before = try given.count == 2 ? viewed(given[0]) : nil
        signal(SIGPIPE, SIG_IGN)  // a page that is closed
        let end = Ending()
        Interruption.whenever([SIGINT, SIGTERM, SIGHUP]) { end.ask() }
        let viewer: Viewer
        do throws(Viewer.Problem) {
            viewer = try Viewer(session, before: before, port: port ?? 0)
        } catch {
            throw Diagnostics.fail("\(error)", .failed)
        }
        defer { viewer.stop() }
        let writer = StandardOutput.writer()
        let place = follow ? "#follow=1" : ""
        writer.write("\(viewer.address)\(place)\n")
        try StandardOutput.finish(writer)
        if !noBrowser { BrowserWindow.open(address: viewer.addressForOneVisit + place) }
        end.wait()
    }

    private func write(to file: String) throws {
        let (session, path) = try opened(given.last ?? newestSession())
        let output = try OutputFile(file)
        let page = try SavedPage(session, at: path, progress: Diagnostics.progress("saving"))
        page.write(to: output.writer)
        try output.finish()
        if let finest = page.finest, finest > 0 {
            Diagnostics.say("of what is shorter than \(String(time: finest)), the page shows sums")
        }
        Diagnostics.warn(session.damage.entries.map(\.description), of: session)
    }

    /// A session, and where it is, absolute.
    private func opened(_ given: String) throws -> (Session, String) {
        let session = try openSession(given)
        guard
            let path = realpath(session.path, nil).map({ path in
                defer { free(path) }
                return String(cString: path)
            })
        else { throw Diagnostics.fail("\(session.path): \(String(cString: strerror(errno)))", .failed) }
        return (session, path)
    }

    private func viewed(_ given: String) throws -> ViewedSession {
        let (session, path) = try opened(given)
        if follow, !session.isRecording {
            Diagnostics.warn("\(session.path) is not being recorded: there is nothing to follow")
        }
        // Pictures are read beside the rest.
        let pictures =
            session.content == .calls
            ? SessionPictures(try openSession(path)) { try FilterOptions.parse($0).treeFilter() } : nil
        return ViewedSession(session, at: path, pictures: pictures)
    }

    /// What ends the command.
    private final class Ending: @unchecked Sendable {
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init() { sem_init(semaphore, 0, 0) }
        deinit { semaphore.deallocate() }

        func ask() { sem_post(semaphore) }
        func wait() { while sem_wait(semaphore) != 0 {} }
    }
}
