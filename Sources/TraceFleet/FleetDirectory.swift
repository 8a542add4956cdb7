internal import Glibc
internal import TraceExport
public import TraceHistory
public import TraceSystem
internal import TraceText

/// The directory of the fleet's tables, which many runs and machines may share.
public struct FleetDirectory {
    public let path: String

    /// Makes the directory if it is not there.
    public init(_ path: String) throws(SystemError) {
        self.path = path
        try makeDirectory("")
    }

    /// Makes a directory below this one, and those on the way.
    func makeDirectory(_ relative: String) throws(SystemError) {
        var made = path
        for part in [""] + relative.split(separator: "/").map(String.init) {
            if !part.isEmpty { made += "/\(part)" }
            if mkdir(made, 0o777) == 0 { continue }
            let code = errno
            var status = stat()
            guard stat(made, &status) == 0 else { throw SystemError(made, code) }
            if status.st_mode & S_IFMT != S_IFDIR { throw SystemError(made, ENOTDIR) }
        }
    }

    /// Where the files of `run` belong below the directory, in the order in which they are put there.
    func files(of run: FleetRun) -> [(table: FleetFile.Table, file: String)] {
        FleetFile.Table.allCases.map { table in
            let partition = FleetFile.partition(table, time: run.time, program: run.program)
            return (table, "\(partition)/\(run.fileName).parquet")
        }
    }

    /// Puts the files of `run` into their places, each of them whole.
    public func write(_ run: FleetRun) throws(SystemError) {
        let tables = FleetTables(run)
        for (table, file) in files(of: run) {
            try makeDirectory(FleetDirectory.parent(of: file))
            try write(to: file) { tables.write(table, to: $0) }
        }
    }

    /// Writes a file below the directory, which takes the place of an old one when it is whole.
    ///
    /// - Parameter isDurable: it is to outlast a power failure.
    func write(to file: String, isDurable: Bool = false, _ body: (ByteWriter) -> Void) throws(SystemError) {
        let new = try NewFile(replacing: "\(path)/\(file)")
        let writer = ByteWriter { new.write($0) }
        body(writer)
        writer.flush()
        try new.commit(isDurable: isDurable)
    }

    /// Makes what was named or renamed in a directory below this one outlast a power failure.
    func synchronize(_ relative: String) throws(SystemError) {
        let descriptor = open("\(path)/\(relative)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("\(path)/\(relative)", errno) }
        defer { close(descriptor) }
        // Some file systems have no such thing.
        if fsync(descriptor) != 0, errno != EINVAL { throw SystemError("\(path)/\(relative)", errno) }
    }

    /// Moves a file below the directory to its place. Nothing is there to move after it was moved already.
    func move(_ file: String, to place: String) throws(SystemError) {
        // Whoever prunes may remove the directory while it is empty.
        for attempt in 0..<10 {
            try makeDirectory(FleetDirectory.parent(of: place))
            if rename("\(path)/\(file)", "\(path)/\(place)") == 0 { return }
            let code = errno
            if code == ENOENT, access("\(path)/\(file)", F_OK) != 0 { return }
            if code != ENOENT || attempt == 9 { throw SystemError("\(path)/\(place)", code) }
        }
    }

    /// The bytes of a file below the directory; nil when there is none.
    func read(_ file: String) throws(SystemError) -> [UInt8]? {
        let descriptor = open("\(path)/\(file)", O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw SystemError("\(path)/\(file)", errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError("\(path)/\(file)", errno) }
            bytes += piece[..<count]
        }
    }

    /// The names in a directory below this one; none when it is not there.
    func names(in relative: String) -> [String] {
        Directory.names(in: "\(path)/\(relative)") ?? []
    }

    /// A file of an interval.
    struct Part {
        /// The number of its table, as ``FleetFile/Table`` lists them.
        let table: Int
        /// `date=` and the day.
        let date: String
        let name: String
        /// Its place below the directory.
        let file: String
    }

    /// The files of intervals that are there, those of runs first: others may collect here meanwhile, and whose run is there has its
    /// other files there, too.
    func parts() -> [Part] {
        var parts: [Part] = []
        for (number, table) in FleetFile.Table.allCases.enumerated().reversed() {
            for date in names(in: table.rawValue) where date.hasPrefix("date=") {
                for program in names(in: "\(table.rawValue)/\(date)") where program.hasPrefix("program=") {
                    let place = "\(table.rawValue)/\(date)/\(program)"
                    for name in names(in: place) where FleetFile.isPart(name) {
                        parts.append(Part(table: number, date: date, name: name, file: "\(place)/\(name)"))
                    }
                }
            }
        }
        return parts
    }

    /// Removes a partition that has no file any more, and that of its date.
    func removeEmpty(_ partition: String) {
        if rmdir("\(path)/\(partition)") == 0 { rmdir("\(path)/\(FleetDirectory.parent(of: partition))") }
    }

    static func parent(of file: String) -> String { file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "" }
}
