internal import CElfutils
internal import Glibc

/// Finds the separate file that holds a stripped module's symbols and debug information.
///
/// In the order of GDB ("Debugging Information in Separate Files"): the build-id directories, then the `.gnu_debuglink`
/// name beside the module, in `.debug` beside it, and below the debug roots.
struct DebugFile {
    /// Directories like `/usr/lib/debug`.
    var roots: [String]

    /// The path of the first file that belongs to `module`: same build-id, or the checksum the link demands.
    func find(for module: borrowing ELFFile) -> String? {
        let buildID = module.buildID
        if buildID.count > 1 {
            let name = "\(hex(buildID[..<1]))/\(hex(buildID[1...])).debug"
            for root in roots {
                let path = "\(root)/.build-id/\(name)"
                if hasBuildID(path, buildID) { return path }
            }
        }
        guard let link = debugLink(of: module), let resolved = realpath(module.path, nil) else { return nil }
        defer { free(resolved) }
        let directory = String(String(cString: resolved).dropLast { $0 != "/" })
        let candidates =
            ["\(directory)\(link.name)", "\(directory).debug/\(link.name)"]
            + roots.map { "\($0)\(directory)\(link.name)" }
        return candidates.first { path in
            path != String(cString: resolved)
                && (buildID.isEmpty ? checksum(of: path) == link.checksum : hasBuildID(path, buildID))
        }
    }

    private func hasBuildID(_ path: String, _ buildID: [UInt8]) -> Bool {
        guard access(path, R_OK) == 0, let file = try? ELFFile(path: path) else { return false }
        return file.buildID == buildID
    }

    /// The name and CRC-32 in `.gnu_debuglink`: a NUL-terminated name, padding to 4 bytes, the checksum.
    private func debugLink(of module: borrowing ELFFile) -> (name: String, checksum: UInt32)? {
        guard let data = module.section(named: ".gnu_debuglink")?.data else { return nil }
        let bytes = UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
        let name = bytes.prefix { $0 != 0 }
        let position = (name.count + 4) & ~3
        guard !name.isEmpty, position + 4 <= bytes.count else { return nil }
        return (String(decoding: name, as: UTF8.self), bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
    }

    /// CRC-32 (ISO 3309) of a whole file; nil when it cannot be read.
    private func checksum(of path: String) -> UInt32? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let table = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { sum, _ in sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xedb8_8320) }
        }
        var sum = UInt32.max
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { return ~sum }
            for byte in buffer[..<count] { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
        }
    }

    private func hex(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

extension String {
    /// The string up to and including the last character that stops `isDropped`.
    fileprivate func dropLast(while isDropped: (Character) -> Bool) -> Substring {
        guard let index = lastIndex(where: { !isDropped($0) }) else { return "" }
        return self[...index]
    }
}
