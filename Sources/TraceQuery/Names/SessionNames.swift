internal import Glibc
internal import TraceAnalysis
public import TraceFile
internal import TraceSymbols
internal import TraceText

/// The names and lines that a session holds of what it recorded, so that it can be shown when its programs are gone.
public enum SessionNames {
    /// The names that `session` holds. Where it has none, and is not being recorded, because its recorder was killed or an earlier
    /// version made it, they are made from the programs, as far as these are still the same, and kept.
    ///
    /// - Parameter atAnySize: whether names are made of sessions of any size, which takes a reading of all calls.
    static func held(by session: Session, atAnySize: Bool = false) -> KeptNames? {
        if session.isRecording { return nil }
        guard let file = session.names() else {
            return atAnySize || session.plainLogSize + session.buffersSize <= mostMadeUp ? keep(session, nil) : nil
        }
        guard let names = KeptNames(bytes: file.bytes) else {
            session.reportNames(0..<file.size)
            return nil
        }
        if let damage = names.damage { session.reportNames(damage) }
        return names
    }

    /// Of larger recordings, in bytes, a reader makes no names: it would have to read all of it first.
    private static let mostMadeUp = 256 << 20

    /// Makes the names of the session at `path`, which has just been recorded, and puts them there. What cannot be known, or cannot
    /// be written, is left out.
    ///
    /// - Parameter held: the files of modules that were opened while it was recorded.
    /// - Complexity: O(records), and that of reading the symbols and lines of the modules that were called.
    public static func keep(in path: String, _ held: HeldModules) {
        guard let session = try? Session(path: path), !session.isRecording else { return }
        _ = keep(session, held)
    }

    private static func keep(_ session: Session, _ held: HeldModules?) -> KeptNames? {
        let modules = session.processes.flatMap(\.modules)
        // When each was first seen, in ns of CLOCK_REALTIME. Without a build-id, a file that was changed later may be another.
        let seen = Dictionary(
            modules.map { (ModuleIdentity(path: $0.path, buildID: $0.buildID), session.moment(of: $0)) },
            uniquingKeysWith: min)
        let files = Dictionary(
            seen.map { ($0, ModuleSource($0, seen: $1, held)) }, uniquingKeysWith: { first, _ in first })
        let names = KeptNames(
            allNames(of: session, files)
                ?? TouchedAddresses(of: session).modules.compactMap { module, addresses in
                    files[module]?.first {
                        $0.keep(
                            functions: addresses.functions, sites: addresses.sites, variables: addresses.objects)
                    }
                })
        if names.isEmpty { return nil }
        names.bytes.withUnsafeBytes { SessionFiles.put($0, as: .names, in: session.path) }
        return names
    }

    /// From this size on, in bytes, a log may be longer to read than all names are to write.
    private static let largeLog = 64 << 20
    /// All names may take this part of a recording, or so many bytes of one that is small because it is packed.
    private static let part = 100, least = 1 << 20

    /// All names of the modules that may have calls, so that a long log need not be read; nil where they would take too much room,
    /// or where more is asked for than the names of calls.
    private static func allNames(
        of session: Session, _ files: [ModuleIdentity: ModuleSource]
    ) -> [KeptModule]? {
        guard session.plainLogSize >= largeLog, session.content == .calls, session.description?.waitSources == nil,
            session.processes.allSatisfy({ $0.start == nil })
        else { return nil }
        var whole: [ModuleSource] = [], others: [ModuleSource] = [], size = 0
        for file in files.values {
            guard let isCalled = file.mayBeCalled else { continue }
            if !isCalled {
                others.append(file)
                continue
            }
            guard let more = file.first(\.sizeOfAll) else { return nil }
            size += more
            whole.append(file)
        }
        guard size <= max(session.logSize / part, least) else { return nil }
        return whole.compactMap { $0.first { $0.keepAll() } }
            + others.compactMap { $0.first { $0.keptWithoutLines(nil) } }
    }
}

/// The files that may be a module.
private struct ModuleSource {
    private let module: ModuleIdentity
    /// Paths that lead to them; nil: the module's own.
    private let paths: [String?]

    /// - Parameter seen: when the module was seen, in ns of CLOCK_REALTIME.
    init(_ module: ModuleIdentity, seen: UInt64, _ held: HeldModules?) {
        self.module = module
        let candidates = held?.candidates(for: ModuleFile(path: module.path, buildID: module.buildID)) ?? []
        if !module.buildID.isEmpty {
            paths = candidates.map(\.path) + [nil]
        } else if let file = candidates.first {
            paths = file.isUnchanged(since: seen) ? [file.path] : []
        } else {
            paths = SessionFiles.isUnchanged(module.path, since: seen) ? [nil] : []
        }
    }

    /// Whether it is the runtime, of whose code nobody asks for lines.
    private var isOurs: Bool { PathText.name(module.path).hasPrefix("libfathom") }

    /// What the first of them tells that tells it.
    func first<Answer>(_ ask: (ModuleSymbols) -> Answer?) -> Answer? {
        for path in paths {
            let symbols = ModuleSymbols(
                path: module.path, buildID: module.buildID, opened: path, readsLines: !isOurs)
            if let answer = ask(symbols) { return answer }
        }
        return nil
    }

    /// Whether calls may be recorded of its functions, or its lines be known; nil when there is no such file.
    var mayBeCalled: Bool? {
        // The C library has hooks only for others to call, which do nothing.
        if isOurs || PathText.name(module.path).hasPrefix("libc.so") { return false }
        for path in paths {
            guard let inspection = try? ExecutableInspection.inspect(path: path ?? module.path) else { continue }
            return inspection.isInstrumented || inspection.hasFathomRuntime
                || first { $0.hasOwnLines ? true : nil } != nil
        }
        return nil
    }
}

extension Session {
    /// When a module was seen, in ns of CLOCK_REALTIME; 0 when that is not known.
    fileprivate func moment(of module: Module) -> UInt64 {
        startRealtimeNanoseconds == 0 ? 0 : startRealtimeNanoseconds &+ clock.nanoseconds(at: module.seenTicks)
    }
}
