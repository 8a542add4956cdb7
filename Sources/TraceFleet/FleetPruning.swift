internal import Glibc
internal import TraceHistory

/// Removes files of old intervals. Those of whole recordings, and whatever else lies in the directory, stay.
public struct FleetPruning {
    public let directory: FleetDirectory
    /// In s; nil for any age.
    let keep: UInt64?
    /// In bytes; nil for any size.
    let maxSize: UInt64?

    public init(directory: FleetDirectory, keep: UInt64?, maxSize: UInt64?) {
        (self.directory, self.keep, self.maxSize) = (directory, keep, maxSize)
    }

    /// The files of an interval.
    private struct Part {
        var files: [String] = []
        var size: UInt64 = 0
        /// When the last of them was written, in s since 1970.
        var time: Int = 0
    }

    /// Removes what is too old or, the oldest first, too much. The newest interval always stays.
    ///
    /// - Returns: how many intervals were removed because there was too much.
    public func prune() -> Int {
        var parts: [String: Part] = [:]
        for part in directory.parts() {
            FleetPruning.add(part.file, in: directory.path, to: &parts[part.name, default: Part()])
        }
        let sorted = parts.sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
        var size = sorted.reduce(stateSize) { $0 + $1.value.size }
        var removed = 0
        let now = time(nil)
        for (_, part) in sorted.dropLast() {
            let isOld = keep.map { now - part.time > Int(clamping: $0) } ?? false
            let isTooMuch = maxSize.map { size > $0 } ?? false
            guard isOld || isTooMuch else { break }
            // First the one without which nobody looks for the others.
            for file in part.files { unlink("\(directory.path)/\(file)") }
            for file in part.files { directory.removeEmpty(FleetDirectory.parent(of: file)) }
            size -= part.size
            if !isOld { removed += 1 }
        }
        return removed
    }

    private static func add(_ file: String, in directory: String, to part: inout Part) {
        var status = stat()
        guard lstat("\(directory)/\(file)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        part.files.append(file)
        part.size += UInt64(status.st_size)
        part.time = max(part.time, status.st_mtim.tv_sec)
    }

    /// What is known of sessions takes room as well.
    private var stateSize: UInt64 {
        directory.names(in: FleetCollector.folder).reduce(0) { size, name in
            var status = stat()
            let path = "\(directory.path)/\(FleetCollector.folder)/\(name)"
            return size + (lstat(path, &status) == 0 ? UInt64(status.st_size) : 0)
        }
    }
}
