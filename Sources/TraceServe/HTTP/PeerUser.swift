internal import Glibc
internal import TraceFile

/// Whose connections they are that come in from this machine, as /proc/net/tcp tells (proc_net_tcp(5)).
enum PeerUser {
    /// Whether the other end of a connection by 127.0.0.1 belongs to this process's user or to root. Where the system tells of no
    /// connections, it is taken for that.
    static func isTrusted(_ connection: Int32) -> Bool {
        guard let own = port(of: connection, getsockname), let other = port(of: connection, getpeername),
            let table = SystemFile.contents(of: "/proc/net/tcp")
        else { return true }
        // The other end may call the address by one of IP's version 6, whose last part is the same.
        let all = table + (SystemFile.contents(of: "/proc/net/tcp6") ?? "")
        for line in all.split(separator: "\n") {
            let fields = line.split(separator: " ")
            // What nobody holds any more is told to be root's.
            guard fields.count > 9, fields[1].hasSuffix(place(other)), fields[2].hasSuffix(place(own)), fields[9] != "0"
            else { continue }
            return [geteuid(), 0].contains(uid_t(fields[7]))
        }
        return false
    }

    /// 127.0.0.1 and a port, as the kernel prints the number that the address has in memory.
    private static func place(_ port: UInt16) -> String {
        func hexadecimal(_ number: some FixedWidthInteger) -> String {
            let text = String(number, radix: 16, uppercase: true), width = number.bitWidth / 4
            return String(repeating: "0", count: width - text.count) + text
        }
        return hexadecimal(UInt32(0x7f00_0001).bigEndian) + ":" + hexadecimal(port)
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
