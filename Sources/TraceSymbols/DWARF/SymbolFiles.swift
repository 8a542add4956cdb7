internal import CElfutils
internal import Glibc
internal import TraceSystem

/// Where symbols and debug information may be besides the programs: files that a person named, directories that hold some, however
/// these are laid out, and the servers of debuginfod.
///
/// Only one thread at a time may use it. All modules of a command share one, so that directories are gone through once.
public final class SymbolFiles: ExpressibleByArrayLiteral {
    let paths: [String]
    let servers: DebugServers?
    /// Takes one line about what is missing.
    let say: (String) -> Void

    /// - Parameters:
    ///   - paths: files and directories.
    ///   - servers: who is asked for what is nowhere else; nil for nobody.
    public init(_ paths: [String], servers: DebugServers? = nil, say: @escaping (String) -> Void = { _ in }) {
        self.paths = paths
        self.servers = servers
        self.say = say
    }

    public convenience init(arrayLiteral paths: String...) { self.init(paths) }

    /// Whether there may be more than lies beside the programs.
    var mayTellMore: Bool { !paths.isEmpty || servers != nil }

    /// The files with this build-id, whatever they are called and wherever below a directory they lie.
    ///
    /// - Complexity: the first time, O(files below the directories).
    func files(of buildID: [UInt8]) -> [String] { buildID.isEmpty ? [] : index[buildID] ?? [] }

    private lazy var index: [[UInt8]: [String]] = {
        var index: [[UInt8]: [String]] = [:], left = Self.mostFiles
        for path in paths { Self.add(path, to: &index, depth: 0, left: &left) }
        if left == 0 { say("--symbols: only the first \(Self.mostFiles) files are looked at") }
        return index
    }()

    private static let mostFiles = 200_000, deepest = 40

    private static func add(_ directory: String, to index: inout [[UInt8]: [String]], depth: Int, left: inout Int) {
        guard depth < deepest, let names = Directory.names(in: directory) else { return }
        var directories: [String] = []
        for name in names where left > 0 {
            let path = "\(directory)/\(name)"
            var status = stat()
            // A directory that is linked to may lead round; a file that is linked to is one by another name.
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: directories.append(path)
            case S_IFREG:
                left -= 1
                guard isELF(path), let file = try? ELFFile(path: path), case let id = file.buildID, !id.isEmpty else {
                    continue
                }
                index[id, default: []].append(path)
            default: break
            }
        }
        for path in directories.sorted() { add(path, to: &index, depth: depth + 1, left: &left) }
    }

    private static func isELF(_ path: String) -> Bool {
        let descriptor = openWithoutWaiting(path)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var magic: UInt32 = 0
        return read(descriptor, &magic, 4) == 4 && UInt32(littleEndian: magic) == 0x464c_457f
    }
}
