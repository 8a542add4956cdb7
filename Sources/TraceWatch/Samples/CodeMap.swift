internal import Glibc
internal import TraceFile

/// Code that a process has made while it runs, by the file in which it says what that is, as compilers at run time write it for perf:
/// `/tmp/perf-PID.map`, a line `START SIZE NAME` for each function, in hexadecimal
/// (tools/perf/Documentation/jit-interface.txt of Linux). Where functions overlap, the later line is right.
struct CodeMap {
    /// The names that were asked for, each once.
    private(set) var names: [String] = []
    private var numbers: [String: Int] = [:]
    private let path: String
    private let owner: uid_t
    private var lines: [(low: UInt64, high: UInt64, name: String)] = []
    /// What was found of addresses since the file changed.
    private var known: [UInt64: Int?] = [:]
    /// The file's size when it was read. Compilers only append to it.
    private var seen: off_t = -1

    /// A larger file is not read.
    private static let mostBytes = 256 << 20

    /// - Parameter pid: the process. What it calls itself counts, and its own /tmp.
    init(of pid: Int32) {
        let own = SystemFile.value(of: "NSpid", in: "/proc/\(pid)/status")?.split { $0 == " " || $0 == "\t" }.last
        path = "/proc/\(pid)/root/tmp/perf-\(own.map(String.init) ?? "\(pid)").map"
        var status = stat()
        owner = stat("/proc/\(pid)", &status) == 0 ? status.st_uid : .max
    }

    /// The number of the name of the code at an address; nil where the process has said nothing of it.
    ///
    /// - Complexity: O(functions) for an address that was not asked for yet, and the size of the file if it has changed.
    mutating func name(at address: UInt64) -> Int? {
        readIfChanged()
        if let found = known[address] { return found }
        let line = lines.last { $0.low <= address && address < $0.high }
        let number = line.map { numbers[$0.name] ?? names.count }
        if let line, number == names.count {
            numbers[line.name] = number
            names.append(line.name)
        }
        known[address] = .some(number)
        return number
    }

    private mutating func readIfChanged() {
        var status = stat()
        // A file of somebody else's says nothing about this process.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.mostBytes,
            status.st_uid == owner || status.st_uid == 0
        else { return }
        guard status.st_size != seen, let text = SystemFile.contents(of: path) else { return }
        seen = status.st_size
        known = [:]
        lines = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let low = UInt64(hexadecimal: words[0]), let size = UInt64(hexadecimal: words[1]),
                size > 0, case let (high, overflow) = low.addingReportingOverflow(size), !overflow
            else { return nil }
            return (low, high, String(words[2]))
        }
    }
}

extension UInt64 {
    fileprivate init?(hexadecimal text: Substring) {
        self.init(text.hasPrefix("0x") ? text.dropFirst(2) : text, radix: 16)
    }
}
