internal import Glibc
internal import TraceFile
internal import TraceText

/// What the descriptors of a process are.
enum Descriptors {
    /// Describes a descriptor: its number, and what it is.
    static func text(_ number: UInt64, of pid: Int32) -> String {
        let number = Int32(truncatingIfNeeded: number)
        guard let target = link("/proc/\(pid)/fd/\(number)") else { return "descriptor \(number)" }
        return "descriptor \(number), \(describe(target, pid))"
    }

    /// Whether a stop may end a read or a write with EINTR, as it does at sockets with a time limit and at inotify.
    static func endsByStop(_ number: UInt64, of pid: Int32) -> Bool {
        guard let target = link("/proc/\(pid)/fd/\(Int32(truncatingIfNeeded: number))") else { return true }
        return target.hasPrefix("socket:") || target.hasPrefix("anon_inode:") || target.hasPrefix("/dev/")
    }

    private static func describe(_ target: String, _ pid: Int32) -> String {
        if target.hasPrefix("socket:["), let socket = socket(target.dropFirst(8).dropLast(), pid) { return socket }
        if target.hasPrefix("pipe:[") { return "a pipe (\(target.dropFirst(6).dropLast()))" }
        if target.hasPrefix("anon_inode:") {
            return "an \(target.dropFirst("anon_inode:".count).filter { !"[]".contains($0) })"
        }
        return target.visible
    }

    private static func link(_ path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &target, target.count)
        return length > 0 ? String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// A socket by its inode: its addresses, or its path.
    private static func socket(_ inode: Substring, _ pid: Int32) -> String? {
        for (file, kind) in [("tcp", "TCP"), ("tcp6", "TCP"), ("udp", "UDP"), ("udp6", "UDP")] {
            for line in SystemFile.lines(of: "/proc/\(pid)/net/\(file)") {
                let fields = line.split(separator: " ")
                guard fields.count > 9, fields[9] == inode else { continue }
                guard let local = port(fields[1]), let remote = port(fields[2]) else { continue }
                return remote == 0
                    ? "a \(kind) socket at port \(local)" : "a \(kind) socket from port \(local) to port \(remote)"
            }
        }
        for line in SystemFile.lines(of: "/proc/\(pid)/net/unix") {
            let fields = line.split(separator: " ", maxSplits: 7)
            guard fields.count > 6, fields[6] == inode else { continue }
            return fields.count > 7 ? "the local socket \(String(fields[7]).visible)" : "a local socket"
        }
        return "a socket"
    }

    private static func port(_ address: Substring) -> Int? {
        address.split(separator: ":").last.flatMap { Int($0, radix: 16) }
    }
}
