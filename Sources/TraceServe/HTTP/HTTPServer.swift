internal import CMicrohttpd
internal import CTraceFormat
internal import Glibc
internal import Synchronization
internal import TraceFile
internal import TraceSystem

/// What a server bears.
public struct ServerLimits: Sendable {
    public var connections: UInt32 = 64
    /// Bytes of a request's first line and headers.
    public var requestBytes = 32_768
    /// For how many seconds a request may be awaited, from the connection's beginning or the answer before it to its own end.
    public var requestSeconds: UInt32 = 60

    public init() {}
}

/// Answers requests of this machine alone. Each connection has a thread of its own, so an answer may take its time.
final class HTTPServer: Sendable {
    /// Answers a request that came by the connection with this descriptor.
    typealias Handler = @Sendable (Request, Int32) -> Reply

    private let handler: Handler
    private let limits: ServerLimits
    /// Since when, in ns of CLOCK_MONOTONIC, each connection owes us a request; nil while its request is being answered.
    private let connections = Mutex<[Int32: UInt64?]>([:])
    private let running = Mutex<Running?>(nil)

    private struct Running: @unchecked Sendable {
        let server: OpaquePointer
        let watch: BackgroundThread
        /// Can be read once the watch is to end.
        let end: Int32
    }

    init(limits: ServerLimits, _ handler: @escaping Handler) {
        self.handler = handler
        self.limits = limits
    }

    /// Takes a port of 127.0.0.1.
    ///
    /// - Parameter port: 0 for any free one.
    /// - Returns: the listening socket, and its port.
    static func listen(on port: UInt16) throws(SystemError) -> (socket: Int32, port: UInt16) {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listening >= 0 else { throw SystemError("socket", errno) }
        var yes: Int32 = 1
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listening, generic, size) != 0 || Glibc.listen(listening, 64) != 0
                    || getsockname(listening, generic, &size) != 0
            } ? errno : 0
        }
        guard failure == 0 else {
            close(listening)
            throw SystemError("127.0.0.1:\(port)", failure)
        }
        return (listening, UInt16(bigEndian: address.sin_port))
    }

    /// Answers what comes in at `listening`, which is the server's from now on. The library has to be loaded.
    ///
    /// - Returns: whether the system has threads for it.
    func start(_ listening: Int32) -> Bool {
        var bounds = http_limits(
            connections: limits.connections, request: limits.requestBytes, idle: limits.requestSeconds)
        var calls = http_handler(
            context: Unmanaged.passUnretained(self).toOpaque(),
            connection: { HTTPServer.own($0).note(connection: $1, begins: $2) },
            answer: { HTTPServer.own($0).answer($1!) },
            done: { HTTPServer.own($0).await($1) })
        guard let server = http_start(listening, &bounds, &calls) else {
            close(listening)
            return false
        }
        let end = fathom_wake_descriptor()
        let watch = BackgroundThread { [self] in self.watch(until: end) }
        running.withLock { $0 = Running(server: server, watch: watch, end: end) }
        return true
    }

    /// Ends all connections, and returns when nothing is being answered any more.
    func stop() {
        guard
            let running = running.withLock({ running in
                defer { running = nil }
                return running
            })
        else { return }
        http_stop(running.server)
        var one: UInt64 = 1
        _ = write(running.end, &one, 8)
        running.watch.join()
        close(running.end)
    }

    private static func own(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
        Unmanaged<HTTPServer>.fromOpaque(context!).takeUnretainedValue()
    }

    private func answer(_ request: OpaquePointer) {
        let descriptor = http_descriptor(request)
        connections.withLock { $0[descriptor] = .some(nil) }
        var asked = Request(
            method: String(cString: http_method(request)), target: String(cString: http_target(request)),
            hasContent: http_has_content(request))
        withUnsafeMutablePointer(to: &asked.headers) { headers in
            http_headers(request, headers) { context, name, value in
                context!.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(
                    (String(cString: name!), String(cString: value!)))
            }
        }
        let reply = handler(asked, descriptor)
        let fields = reply.headers.flatMap { [strdup($0.name), strdup($0.value)] }
        defer { fields.forEach { free($0) } }
        let constants = fields.map { UnsafePointer($0) } + [nil]
        reply.bytes.withUnsafeBytes { bytes in
            _ = http_answer(request, reply.status, bytes.baseAddress, bytes.count, constants)
        }
    }

    private func note(connection: Int32, begins: Bool) {
        connections.withLock { $0[connection] = begins ? .some(SystemClock.monotonic) : nil }
    }

    private func await(_ connection: Int32) {
        connections.withLock { if $0[connection] != nil { $0[connection] = .some(SystemClock.monotonic) } }
    }

    /// Ends connections that send their request a byte now and then. The library itself ends those that send nothing.
    private func watch(until end: Int32) {
        let limit = UInt64(limits.requestSeconds) * 1_000_000_000
        var asked = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        while poll(&asked, 1, Int32(limits.requestSeconds) * 250) <= 0 {
            let now = SystemClock.monotonic
            connections.withLock { connections in
                for case (let descriptor, let since?) in connections where now > since &+ limit {
                    shutdown(descriptor, Int32(SHUT_RDWR))
                }
            }
        }
    }
}
