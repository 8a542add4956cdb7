import Glibc
import TestSupport
import Testing
import TraceSystem

/// A file is there when it is whole, and until then the old one is.
@Suite struct NewFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("new files") }

    private func write(_ text: String, to file: NewFile) -> Bool {
        Array(text.utf8).withUnsafeBytes { file.write($0) }
    }

    private func text(of path: String) throws -> String { String(decoding: try readFile(path), as: UTF8.self) }

    @Test func committed() throws {
        let path = directory.file("file")
        for text in ["first", "second"] {
            let file = try NewFile(replacing: path)
            #expect(write(text, to: file))
            #expect(try text == "first" ? access(path, F_OK) != 0 : self.text(of: path) == "first")
            try file.commit(isDurable: text == "second")
            #expect(try self.text(of: path) == text)
        }
        #expect(Directory.names(in: directory.path) == ["file"])
    }

    /// What is dropped, or could not all be written, leaves the old file and nothing beside it.
    @Test(arguments: [nil, ENOSPC]) func kept(_ failure: Int32?) throws {
        let path = try directory.write("old", to: "file")
        do {
            let file = try NewFile(replacing: path)
            #expect(write("new", to: file))
            if let failure {
                file.fail(failure)
                file.fail(EIO)  // The first reason counts.
                let error = #expect(throws: SystemError.self) { try file.commit() }
                #expect(error?.errno == failure && error?.description == "\(path): No space left on device")
            }
        }
        #expect(try text(of: path) == "old" && Directory.names(in: directory.path) == ["file"])
    }

    /// The new file has the old one's permissions, and a link stays one.
    @Test func replaced() throws {
        let path = try directory.write("old", to: "file"), link = directory.file("link")
        #expect(chmod(path, 0o640) == 0 && symlink("file", link) == 0)
        let file = try NewFile(replacing: link)
        #expect(write("new", to: file))
        try file.commit()
        var status = stat()
        #expect(try text(of: path) == "new" && stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o640)
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }

    /// What is no file is written to as it is.
    @Test func device() throws {
        let file = try NewFile(replacing: "/dev/full")
        #expect(!write("text", to: file) && file.failure == ENOSPC)
        #expect(throws: SystemError.self) { try file.commit() }
        let null = try NewFile(replacing: "/dev/null")
        #expect(write("text", to: null))
        try null.commit()
    }

    @Test func refused() throws {
        for (path, code) in [(directory.path, EISDIR), (directory.file("none/file"), ENOENT)] {
            let error = #expect(throws: SystemError.self) { try NewFile(replacing: path) }
            #expect(error?.errno == code && error?.subject == path)
        }
        if Privilege.isRoot { return }
        let path = try directory.write("old", to: "file")
        #expect(chmod(path, 0o400) == 0)
        #expect(throws: SystemError.self) { try NewFile(replacing: path) }
    }
}
