internal import Glibc
internal import TraceSystem

/// Files of /proc and /sys.
package enum SystemFile {
    /// The first 4,096 bytes of a file.
    private static func start(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let size = read(descriptor, buffer.baseAddress, buffer.count)
            return size > 0 ? String(decoding: buffer[..<size], as: UTF8.self) : nil
        }
    }

    /// The ids of all processes that can be seen.
    package static func processes() -> [String] {
        (Directory.names(in: "/proc") ?? []).filter { name in
            name.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        }
    }

    /// All lines of a file; none when it cannot be read. Files of /proc do not tell their size.
    package static func lines(of path: String) -> [Substring] {
        (contents(of: path) ?? "").split(separator: "\n")
    }

    /// All of a file.
    package static func contents(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let size = read(descriptor, &piece, piece.count)
            guard size >= 0 else { return nil }
            if size == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<size]
        }
    }

    package static func firstLine(of path: String) -> String {
        start(of: path)?.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Whether a filter says which system calls this process may make.
    package static var filtersCalls: Bool { value(of: "Seccomp:", in: "/proc/self/status").map { $0 != "0" } ?? false }

    package static func value(of key: String, in path: String) -> String? {
        for line in (start(of: path) ?? "").split(separator: "\n") where line.hasPrefix(key) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            return String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
        }
        return nil
    }
}
