import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What is made in a session's directory, what takes whose place, and that no file of anybody else's is touched.
@Suite struct SessionDirectoryTests {
    let directory: TemporaryDirectory
    var path: String { directory.file("session.fathom") }

    init() throws { directory = try TemporaryDirectory("sessions") }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func text(_ path: String) throws -> String { String(decoding: try readFile(path), as: UTF8.self) }

    /// A directory that holds what makes a session, whose recorder has ended: it does not let go of its lock before.
    private func makeSession(_ name: String, saying what: String) throws {
        if mkdir(directory.file(name), 0o700) != 0 {
            _ = try SessionDirectory(creating: directory.file(name))
            try #require(rmdir(directory.file(name)) == 0 && mkdir(directory.file(name), 0o700) == 0)
        }
        try directory.write(SessionDescription.start + what, to: "\(name)/session.json")
    }

    @Test func filesAreTheOwnersAlone() throws {
        let old = umask(0)
        defer { umask(old) }
        let session = try SessionDirectory(creating: path)
        close(try session.create("trace", O_WRONLY))
        try session.create("session.json", holding: "{}")
        #expect(mode(path) == 0o700)
        #expect(mode("\(path)/trace") == 0o600 && mode("\(path)/session.json") == 0o600)
    }

    /// As where the directory itself cannot be renamed. If one file cannot be moved, none is.
    @Test func filesMoveOneByOne() throws {
        try makeSession("one", saying: "1")
        try directory.write("rest", to: "one/trace")
        #expect(throws: SessionFileError.self) {
            try SessionDirectory.moveFiles(
                ["session.json", "gone"], of: directory.file("one"), to: directory.file("two"))
        }
        #expect(try text(directory.file("one/session.json")) == SessionDescription.start + "1")
        #expect(mode(directory.file("two")) == nil)
        // What somebody else has put there stays there, and so does all else.
        #expect(throws: SessionFileError.self) {
            try SessionDirectory.moveFiles(["session.json"], of: directory.file("one"), to: directory.file("two"))
        }
        #expect(try text(directory.file("one/session.json")) == SessionDescription.start + "1")
        #expect(mode(directory.file("two")) == nil)
        try SessionDirectory.moveFiles(
            ["session.json", "trace"], of: directory.file("one"), to: directory.file("two"))
        #expect(mode(directory.file("one")) == nil)
        #expect(try text(directory.file("two/trace")) == "rest")
    }

    @Test func slashesAtTheEnd() throws {
        #expect(try SessionDirectory(creating: path + "///").path == path)
    }

    @Test func emptyDirectoryIsTaken() throws {
        try directory.makeDirectory("session.fathom")
        let session = try SessionDirectory(creating: path)
        try session.create("session.json", holding: "{}")
        session.discard()
        // It was there before, so it stays, as empty as it was.
        #expect(mode(path) != nil && mode("\(path)/session.json") == nil)
    }

    @Test func discardLeavesNothing() throws {
        let session = try SessionDirectory(creating: path)
        try session.create("session.json", holding: "{}")
        session.discard()
        #expect(mode(path) == nil)
    }

    @Test func earlierSessionIsSetAside() throws {
        for what in ["first", "second", "third"] { try makeSession("session.fathom", saying: what) }
        #expect(try text("\(path)/session.json") == SessionDescription.start + "third")
        #expect(try text("\(path).old/session.json") == SessionDescription.start + "second")
    }

    @Test func sessionThatIsBeingRecordedStays() throws {
        let first = try SessionDirectory(creating: path)
        try first.create("session.json", holding: SessionDescription.start)
        #expect(throws: SessionFileError.isBeingRecorded(path: path)) { try SessionDirectory(creating: path) }
        withExtendedLifetime(first) {}
        #expect(try text("\(path)/session.json") == SessionDescription.start)
    }

    @Test func foreignDirectoryStays() throws {
        try directory.makeDirectory("session.fathom")
        try directory.write("mine", to: "session.fathom/trace")
        #expect(throws: SessionFileError.notOurs(path: path)) { try SessionDirectory(creating: path) }
        #expect(try text("\(path)/trace") == "mine")
    }

    @Test func olderSessionWithAForeignFileStays() throws {
        for what in ["first", "second"] { try makeSession("session.fathom", saying: what) }
        try directory.write("mine", to: "session.fathom.old/notes")
        #expect(throws: SessionFileError.holdsOthers(path: "\(path).old", file: "notes")) {
            try SessionDirectory(creating: path)
        }
        #expect(try text("\(path).old/notes") == "mine")
        #expect(try text("\(path)/session.json") == SessionDescription.start + "second")
    }

    @Test func linksAreNotFollowed() throws {
        try makeSession("real.fathom", saying: "real")
        #expect(symlink(directory.file("real.fathom"), path) == 0)
        #expect(throws: SessionFileError.notOurs(path: path)) { try SessionDirectory(creating: path) }
        #expect(try text(directory.file("real.fathom/session.json")) == SessionDescription.start + "real")
    }

    @Test func plainFileStays() throws {
        try directory.write("mine", to: "session.fathom")
        #expect(throws: SessionFileError.notOurs(path: path)) { try SessionDirectory(creating: path) }
        #expect(try text(path) == "mine")
    }

    @Test func fileThatIsThereIsNotWrittenOver() throws {
        let session = try SessionDirectory(creating: path)
        try directory.write("mine", to: "session.fathom/trace")
        #expect(throws: SessionFileError.cannotCreate(path: "\(path)/trace", errno: EEXIST)) {
            try session.create("trace", O_WRONLY)
        }
        session.remove("trace")
        #expect(try text("\(path)/trace") == "mine")
    }

    /// Somebody has put another file where one of the session's was.
    @Test func replacedFileIsNeitherOpenedNorRemoved() throws {
        let session = try SessionDirectory(creating: path)
        close(try session.create("buffers", O_RDWR))
        // Not unlinked first: the next file could get the same inode.
        #expect(rename("\(path)/buffers", "\(path)/moved") == 0)
        try directory.write("mine", to: "session.fathom/buffers")
        #expect(session.reopen("buffers", O_RDONLY) == -1)
        session.remove("buffers")
        #expect(try text("\(path)/buffers") == "mine")
    }

    @Test func reopenFindsWhatWasMade() throws {
        let session = try SessionDirectory(creating: path)
        close(try session.create("buffers", O_RDWR))
        let again = session.reopen("buffers", O_RDONLY)
        #expect(again >= 0)
        close(again)
        session.remove("buffers")
        #expect(session.reopen("buffers", O_RDONLY) == -1 && mode("\(path)/buffers") == nil)
    }

    @Test func replaceLeavesOneFile() throws {
        let session = try SessionDirectory(creating: path)
        try session.create("session.json", holding: "before")
        try session.replace("session.json", by: "after")
        #expect(try text("\(path)/session.json") == "after")
        #expect(mode("\(path)/session.json.new") == nil)
        session.discard()
        #expect(mode(path) == nil)
    }

    /// What could not be written whole is taken away again, and what it was to replace stays.
    @Test(.enabled(if: Privilege.mounts)) func fullDisk() throws {
        let files = try SmallFileSystem("size=64k")
        let session = try SessionDirectory(creating: files.directory.file("full.fathom"))
        try session.create("session.json", holding: "before")
        let text = String(repeating: "x", count: 100_000)
        let place = files.directory.file("full.fathom")
        #expect(throws: SessionFileError.cannotCreate(path: "\(place)/session.json.new", errno: ENOSPC)) {
            try session.replace("session.json", by: text)
        }
        #expect(try self.text("\(place)/session.json") == "before")
        #expect(mode("\(place)/session.json.new") == nil)
    }
}
