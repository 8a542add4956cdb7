internal import Glibc
internal import TraceFile

/// Whose connection it is that came in from this machine, as /proc/net/tcp tells (proc_net_tcp(5)).
enum PeerUser {
    /// The user of the other end of a connection by 127.0.0.1; nil where the system does not tell.
    static func id(of connection: Int32) -> uid_t? {
        guard let own = port(of: connection, getsockname), let other = port(of: connection, getpeername) else {
            return nil
        }
        let text = SystemFile.contents(of: "/proc/net/tcp") ?? ""
        let places = [place(other), place(own)]
        for line in text.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: " ")
            if fields.count > 7, [String(fields[1]), String(fields[2])] == places { return uid_t(fields[7]) }
        }
        return nil
    }

    /// 127.0.0.1 and a port, as the kernel prints the number that the address has in memory.
    private static func place(_ port: UInt16) -> String {
        let address = UInt32(0x7f00_0001).bigEndian
        let text = String(address, radix: 16, uppercase: true), number = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - text.count) + text + ":"
            + String(repeating: "0", count: 4 - number.count)
            + number
    }

    private static func port(
        of connection: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> UInt16? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(connection, $0, &size) }
        }
        return failure == 0 ? UInt16(bigEndian: address.sin_port) : nil
    }
}
