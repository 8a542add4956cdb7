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

    func validate() throws {
        if given.count > 2 { throw ValidationError("give one session, or two: before and after") }
    }

    func run() throws {
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
        writer.write(viewer.address + "\n")
        try StandardOutput.finish(writer)
        if !noBrowser { BrowserWindow.open(address: viewer.addressForOneVisit) }
        end.wait()
    }

    private func viewed(_ given: String) throws -> ViewedSession {
        let session = try openSession(given)
        guard
            let path = realpath(session.path, nil).map({ path in
                defer { free(path) }
                return String(cString: path)
            })
        else { throw Diagnostics.fail("\(session.path): \(String(cString: strerror(errno)))", .failed) }
        // Pictures are read beside the rest.
        let pictures = session.content == .calls ? SessionPictures(try openSession(path)) : nil
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
