import Glibc
import TestSupport
import Testing
import TraceFile

@testable import TraceServe

@Suite struct ViewerTests {
    /// Whoever sends a request a byte now and then is not waited for longer than the limit.
    @Test func dribble() throws {
        let directory = try TemporaryDirectory("viewer"), path = directory.file("session.fathom")
        try TraceWriter.session(path) { records in
            records.enter(0x1000, at: 10)
            records.exit(at: 20)
        }
        var limits = ServerLimits()
        limits.requestSeconds = 1
        let viewer = try Viewer(ViewedSession(Session(path: path), at: path), limits: limits)
        defer { viewer.stop() }
        let port = try #require(viewer.address.split(separator: "/").dropFirst().first?.split(separator: ":").last)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = try #require(UInt16(port)).bigEndian
        let failure = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(failure == 0)
        var sent = 0, byte = UInt8(ascii: "x")
        // A minute is far beyond the limit, and the end comes when the server closes.
        while sent < 1200, send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 {
            sent += 1
            usleep(50_000)
        }
        #expect(sent > 0 && sent < 1200)
    }
}
