import Glibc
import TestSupport
import Testing

/// `fathom view` of a session, and what a browser would do with it, without one.
final class ViewServer {
    let process: BackgroundProcess
    let port: UInt16
    /// `/TOKEN/`.
    let root: String

    /// Starts it, and waits until it has told its address.
    ///
    /// - Parameter directory: where its output goes.
    init(
        _ session: String, in directory: TemporaryDirectory, _ options: [String] = ["--no-browser"],
        environment: [String: String] = [:]
    ) throws {
        let output = directory.file("view-\(UInt32.random(in: 0...UInt32.max))")
        process = try BackgroundProcess(
            ["sh", "-c", #"exec "$@" >"$0.part" 2>"$0.errors""#, output, Fathom.executable, "view", session] + options,
            environment: environment)
        var line = ""
        _ = waitUntil(seconds: 120) {
            line = (try? readFile("\(output).part")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return line.hasSuffix("\n")
        }
        let parts = line.split(separator: "/", omittingEmptySubsequences: false)
        try #require(
            parts.count == 5 && parts[0] == "http:" && parts[2].hasPrefix("127.0.0.1:")
                && (parts[4] == "\n" || parts[4].hasPrefix("#")), "\(line)")
        port = try #require(UInt16(parts[2].dropFirst("127.0.0.1:".count)))
        root = "/\(parts[3])/"
    }

    /// What was answered.
    struct Reply {
        var status = 0
        var head = ""
        var body = ""
    }

    /// Asks by a connection of its own.
    ///
    /// - Parameter target: behind the token; with a slash before it, as it is.
    func get(
        _ target: String, method: String = "GET", host: String? = nil, _ headers: [String] = []
    ) throws -> Reply {
        let connection = try connect()
        connection.send(request(target, method: method, host: host, headers + ["Connection: close"]))
        return ViewServer.reply(connection.rest())
    }

    func request(_ target: String, method: String = "GET", host: String? = nil, _ headers: [String] = []) -> String {
        let path = target.hasPrefix("/") ? target : root + target
        let lines = ["\(method) \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"] + headers
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    static func reply(_ bytes: [UInt8]) -> Reply {
        let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
        let halves = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let words = halves[0].split(separator: " ")
        return Reply(
            status: words.count > 1 ? Int(words[1]) ?? 0 : 0, head: String(halves[0]),
            body: halves.count > 1 ? String(halves[1]) : "")
    }

    /// What a browser finds on the page, once that is there: see ``Browser/run(_:_:isFlame:)``.
    ///
    /// - Parameter hash: what the address says behind the `#`, with that.
    func page(_ hash: String, _ steps: [String]) throws -> [String] {
        try Browser.run(
            "http://127.0.0.1:\(port)\(root)\(hash)",
            ["wait typeof session !== 'undefined' && session && panes.shown"] + steps, isFlame: false)
    }

    func connect() throws -> Connection { try Connection(port: port) }

    /// The processes that it has started.
    var children: [Int32] {
        let tasks = (try? run("sh", ["-c", "cat /proc/\(process.pid)/task/*/children"]).stdout) ?? ""
        return tasks.split { " \n".contains($0) }.compactMap { Int32($0) }
    }

    /// How many descriptors it has open.
    var descriptors: Int {
        (try? run("ls", ["/proc/\(process.pid)/fd"]).stdout.split(separator: "\n").count) ?? 0
    }

    /// A connection to a port of this machine. Nothing waits longer than a minute.
    final class Connection {
        private let descriptor: Int32

        init(port: UInt16) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var limit = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = port.bigEndian
            let failure = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(failure == 0, "connect: \(String(cString: strerror(errno)))")
        }

        deinit { close(descriptor) }

        func send(_ text: String) { send(Array(text.utf8)) }

        /// Sends as much as the other side takes.
        func send(_ bytes: [UInt8]) {
            var left = bytes[...]
            while !left.isEmpty {
                let count = left.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return }
                left = left.dropFirst(count)
            }
        }

        /// No more is sent.
        func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

        /// What comes until the other side closes.
        func rest() -> [UInt8] {
            var bytes: [UInt8] = [], room = [UInt8](repeating: 0, count: 65_536)
            while case let count = recv(descriptor, &room, room.count, 0), count > 0 { bytes += room[..<count] }
            return bytes
        }
    }
}
