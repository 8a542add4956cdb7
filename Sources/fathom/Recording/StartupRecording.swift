internal import Glibc
internal import TraceBuild
internal import TraceFile
internal import TraceRecording
internal import TraceRequest
internal import TraceSymbols
internal import TraceSystem
internal import TraceText

/// Starts a program and records that, as often as somebody asks for.
final class StartupRecording {
    private let command: [String]
    private let runs: Int
    private let isCold: Bool
    private let session: String?
    /// Holds the recordings that nobody wants to keep.
    private var directory: String?
    /// The files that the program maps, once they are known.
    private var files: [String]?
    private var kept: (pages: Int, all: Int, files: [String])?
    /// Those of the files that lie in memory and nowhere else.
    private var inMemory: [String] = []
    private var problems: Set<String> = []

    /// - Parameter session: where the recordings are kept; nil for nowhere.
    init(_ command: [String], runs: Int, isCold: Bool, session: String?) {
        self.command = command
        self.runs = runs
        self.isCold = isCold
        self.session = session
    }

    /// Runs the program to its end, and returns the session.
    func run(_ index: Int) throws -> String {
        if isCold {
            if files == nil { files = try mappedFiles(record(try temporary("files"))) }
            empty(files ?? [])
        }
        guard let session else { return try record(temporary("\(index + 1)")) }
        return try record(runs == 1 ? session : "\(SessionDirectory.stem(of: session))-\(index + 1).fathom")
    }

    /// Removes what is not to be kept.
    func remove() {
        guard let directory else { return }
        for run in (1...runs).map(String.init) + ["files"] {
            let path = "\(directory)/\(run).fathom"
            for file in SessionFiles.all(in: path) { unlink("\(path)/\(file)") }
            rmdir(path)
        }
        rmdir(directory)
    }

    private func temporary(_ name: String) throws -> String {
        if directory == nil {
            do throws(SystemError) { directory = try Directory.makeTemporary("fathom-startup") } catch {
                throw Diagnostics.fail(error.description, .failed)
            }
        }
        return "\(directory!)/\(name).fathom"
    }

    private func record(_ path: String) throws -> String {
        // Each recorder blocks signals that the next one's program would inherit.
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        defer { pthread_sigmask(SIG_SETMASK, &mask, nil) }
        do {
            var options = RecordOptions()
            options.tellsStartup = true
            options.waiting = .causes
            let request = try RecordingRequest(
                of: findExecutable(command[0]), command, into: path, options, force: true)
            let summary = try Recorder(request, runtime: Installation.runtimeLibrary).run { _exit(0) }
            for line in SummaryText(summary).warnings { Diagnostics.say(line) }
            switch summary.status {
            case .exited(0): break
            case .exited(let status): Diagnostics.warn("the program ended with status \(status)")
            case .signaled(let signal): Diagnostics.warn("the program ended by signal \(signal)")
            }
        } catch let error as SymbolProblem {
            throw Diagnostics.fail(error.description, status: 126)
        } catch let error as RecordingError {
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
        return path
    }

    // MARK: Cold runs

    /// The files that a run mapped.
    private func mappedFiles(_ path: String) throws -> [String] {
        let session = try openSession(path)
        let mapped = session.kernelStart()?.mappings.filter(\.isFile).map(\.path) ?? []
        let modules = session.processes.first?.modules.map(\.path).filter { $0.hasPrefix("/") } ?? []
        let own = Installation.runtimeLibrary
        let real = Set((mapped + modules).map(StartupRecording.resolved))
        return real.filter { $0 != StartupRecording.resolved(own) }
            .filter { !$0.hasSuffix("/buffers") && !$0.hasSuffix(" (deleted)") }.sorted()
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private func empty(_ files: [String]) {
        let cache = PageCache(emptying: files)
        problems.formUnion(cache.problems)
        inMemory = cache.inMemory
        if let kept, kept.pages >= cache.kept { return }
        kept = (cache.kept, cache.pages, cache.keptFiles)
    }

    /// How cold the runs were; nil where they were not to be.
    var coldText: String? {
        guard isCold, let kept else { return nil }
        var text = "cold: the page cache of \(files?.count ?? 0) files was emptied before each run"
        if kept.pages > 0 {
            let names = kept.files.prefix(3).map { PathText.name($0) }.joined(separator: ", ")
            text =
                "only partly cold: of \(CountText.grouped(UInt64(kept.all))) pages of \(files?.count ?? 0) files "
                + "\(CountText.grouped(UInt64(kept.pages))) stayed in memory (\(names)), which other processes have mapped"
        }
        if !inMemory.isEmpty {
            let names = inMemory.map { PathText.name($0) }, shown = names.prefix(3).joined(separator: ", ")
            text +=
                (kept.pages > 0 ? ", or which have no other place" : "; not cold is what has no other place")
                + ": the file system of \(shown)\(names.count > 3 ? " and others" : "") is in memory"
        }
        if !problems.isEmpty { text += "; impossible for \(problems.sorted().joined(separator: ", "))" }
        return text
    }
}
