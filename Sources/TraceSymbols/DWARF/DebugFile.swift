internal import CElfutils
internal import Glibc

/// Finds the separate file that holds a stripped module's symbols and debug information.
///
/// Looks in the order of GDB ("Debugging Information in Separate Files"): in the build-id directories, then for the
/// `.gnu_debuglink` name beside the module, in `.debug` beside it, and below the debug roots. Last come the places
/// where builds leave a program from before it was stripped, or what was stripped from it.
struct DebugFile {
    /// Directories like `/usr/lib/debug`.
    var roots: [String]
    /// Files that a person named, and directories with such files, which are looked at first; and servers, which are asked last.
    var named: SymbolFiles = []

    /// The path of the first file that belongs to `module`, because it has the same build-id, the checksum that the
    /// link demands, or the same code.
    func find(for module: borrowing ELFFile) -> String? {
        let buildID = module.buildID
        if let path = namedFiles(module.path, buildID).first(where: { isTwin($0, of: module) }) { return path }
        if let path = buildIDFiles(buildID, below: roots).first(where: { hasBuildID($0, buildID) }) { return path }
        return linked(by: module, buildID) ?? beside(module.path).first { isTwin($0, of: module) }
            ?? served(buildID)
    }

    /// The file, among those that a person named, that is the module that once was at `path`, where now is none or
    /// another; nil without a build-id to know it by.
    func replacement(for path: String, buildID: [UInt8]) -> String? {
        buildID.isEmpty ? nil : namedFiles(path, buildID).first { hasBuildID($0, buildID) } ?? served(buildID)
    }

    private func served(_ buildID: [UInt8]) -> String? {
        named.servers?.find(buildID).flatMap { hasBuildID($0, buildID) ? $0 : nil }
    }

    /// The names that builds give to a program before they strip it, or to what they stripped from it.
    private func beside(_ path: String) -> [String] {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let directory = path.dropLast(name.utf8.count)
        return Self.suffixes.map { path + $0 } + Self.suffixes.map { "\(directory).debug/\(name)\($0)" }
            + ["\(directory).debug/\(name)"]
    }

    private static let suffixes = ["_unstripped", ".unstripped", ".debug", ".dbg", ".full"]

    private func namedFiles(_ path: String, _ buildID: [UInt8]) -> [String] {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return named.paths.flatMap { place in
            [place] + buildIDFiles(buildID, below: [place])
                + ["\(place)\(path)", "\(place)/\(name)"].flatMap { [$0] + beside($0) }
        } + named.files(of: buildID)
    }

    private func buildIDFiles(_ buildID: [UInt8], below directories: [String]) -> [String] {
        guard buildID.count > 1 else { return [] }
        let name = "\(hex(buildID[..<1]))/\(hex(buildID[1...])).debug"
        return directories.map { "\($0)/.build-id/\(name)" }
    }

    /// Whether the file at `path` has symbols of the same program. The build-ids tell or, without one, the sections
    /// with code and data, which stripping leaves where they are.
    private func isTwin(_ path: String, of module: borrowing ELFFile) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let file = try? ELFFile(path: path),
            file.section(type: SHT_SYMTAB) != nil || file.hasDWARF
        else { return false }
        let buildID = module.buildID
        return buildID.isEmpty ? file.buildID.isEmpty && file.hasSameCode(as: module) : file.buildID == buildID
    }

    private func linked(by module: borrowing ELFFile, _ buildID: [UInt8]) -> String? {
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
        let descriptor = openWithoutWaiting(path)
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
