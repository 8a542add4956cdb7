internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceReports
internal import TraceSystem
internal import TraceText
internal import TraceWatch

/// The directory in which each hang has two files, for people and for programs, and what is said of hangs meanwhile.
///
/// One thread at a time uses it.
final class HangFiles: @unchecked Sendable {
    private let directory: String
    private let format: ReportFormat
    private let isQuiet: Bool
    private let descriptor: Int32
    private let layout: TextLayout
    private var names: [Int: String] = [:]
    private(set) var count = 0
    private var failure: Int32 = 0
    /// Whether the directory was not there before.
    private let isMade: Bool

    /// - Parameter descriptor: standard output, or standard error where the former is the program's.
    init(in directory: String, _ format: ReportFormat, isQuiet: Bool, to descriptor: Int32) throws {
        self.directory = directory
        self.format = format
        self.isQuiet = isQuiet
        self.descriptor = descriptor
        layout = Screen(isText: format == .text, on: descriptor).layout
        try FileName.check(directory)
        isMade = mkdir(directory, 0o700) == 0
        guard isMade || errno == EEXIST else { throw HangFiles.fail(directory) }
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Diagnostics.fail("\(directory): not a directory", .failed)
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw Diagnostics.fail(
                "\(directory): is a directory of another user, who could change the reports", .failed)
        }
        guard access(directory, W_OK | X_OK) == 0 else { throw HangFiles.fail(directory) }
    }

    private static func fail(_ path: String) -> ExitCode {
        Diagnostics.fail("\(path): \(String(cString: strerror(errno)))", .failed)
    }

    /// Writes what is news, and says it.
    func take(_ news: HangNews) {
        let name = names[news.number] ?? HangFiles.name(news)
        names[news.number] = name
        if news.stage == .began { count += 1 }
        write("\(name).json") { HangJSON($0).write(news.hang) }
        write("\(name).txt") { HangText($0).write(news.hang) }
        if news.stage == .ended { names[news.number] = nil }
        guard !isQuiet else { return }
        switch format {
        case .json where news.stage != .goesOn: put { HangJSON($0).write(news.hang) }
        case .json: break
        case .text where news.stage == .began: put { HangText($0, layout: layout).write(news.hang) }
        case .text: put { HangText($0, layout: layout).writeHeading(news.hang) }
        }
        if news.stage == .began, format == .text { Diagnostics.say("written to \(directory)/\(name).txt and .json") }
    }

    /// The program, its process, when it began, and which of several it is.
    private static func name(_ news: HangNews) -> String {
        let digits = digits(ofSecond: news.hang.startRealtime / 1_000_000_000)
        let program = String(news.hang.program.map { $0 == "/" ? "_" : $0 })
        return "\(program)-\(news.hang.pid)-\(digits)-\(news.number)"
    }

    /// A moment, in s since 1970, as the name of a report has it.
    private static func digits(ofSecond second: UInt64) -> String {
        DateText.utc(secondsSinceEpoch: second).filter(\.isNumber)
    }

    /// How many reports there are, by whichever process, of hangs that began within the last 24 hours.
    ///
    /// - Complexity: O(files in the directory).
    var countOfLastDay: Int {
        let yesterday = HangFiles.digits(ofSecond: UInt64(max(time(nil) - 86_400, 0)))
        return HangFiles.names(in: directory)?.count { name in
            guard let moment = name.split(separator: "-").suffix(2).first, moment.count == yesterday.count else {
                return false
            }
            return moment >= yesterday
        } ?? 0
    }

    /// The names of the files for programs that a directory has; nil, and errno, when it cannot be read.
    private static func names(in directory: String) -> [String]? {
        Directory.names(in: directory)?.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
    }

    private func write(_ name: String, _ body: (ByteWriter) -> Void) {
        do throws(SystemError) {
            let file = try NewFile(replacing: "\(directory)/\(name)")
            let writer = ByteWriter { file.write($0) }
            body(writer)
            writer.flush()
            try file.commit()
        } catch {
            if failure == 0 { Diagnostics.warn(error.description) }
            failure = error.errno
        }
    }

    private func put(_ body: (ByteWriter) -> Void) {
        let writer = ByteWriter { [descriptor] in writeAll($0, to: descriptor) == 0 }
        body(writer)
        writer.flush()
    }

    /// Says what there was in all, and leaves no directory without a report.
    ///
    /// - Throws: exit status 2 when a report could not be written.
    func summarize(refused: UInt64) throws {
        // Where there are reports, the system refuses that.
        if isMade { rmdir(directory) }
        if !isQuiet {
            let reports = "\(CountText.grouped(UInt64(count))) report\(count == 1 ? "" : "s")"
            if count > 0 || refused == 0 {
                Diagnostics.say(
                    count == 0 ? "nothing hung" : "\(reports) in \(directory); next: fathom watch --list \(directory)")
            }
            if refused > 0 {
                Diagnostics.warn(
                    "\(CountText.grouped(refused)) \(count == 0 ? "hang\(refused == 1 ? "" : "s")" : "more") \(refused == 1 ? "was" : "were") counted and not written; --limit-reports allows more"
                )
            }
        }
        if failure != 0 {
            throw Diagnostics.fail("not all reports could be written: \(String(cString: strerror(failure)))", .failed)
        }
    }

    /// The hangs that a directory has reports of.
    static func read(_ directory: String) throws -> [HangSummary] {
        try FileName.check(directory)
        guard let names = names(in: directory) else { throw fail(directory) }
        var hangs: [HangSummary] = []
        for name in names {
            guard let text = SystemFile.contents(of: "\(directory)/\(name)"), let hang = HangSummary(json: text) else {
                Diagnostics.warn("\(directory)/\(name): no report of a hang")
                continue
            }
            hangs.append(hang)
        }
        return hangs
    }
}
