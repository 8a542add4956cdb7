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
            return atAnySize || session.plainLogSize + session.buffersSize <= mostMadeUp ? madeUp(of: session) : nil
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

    private static func madeUp(of session: Session) -> KeptNames? {
        let names = names(of: [session], nil)
        // Processes that have lost their recorder still write into the buffers, and call functions that nobody asked for yet.
        let goesOn = session.processes.contains {
            $0.end == .unknown && processIsAlive(Int32(bitPattern: $0.pid))
        }
        if let names, !goesOn { put(names, in: [session]) }
        return names
    }

    /// Makes the names of the sessions at `paths`, which have just been recorded of the same programs, and puts them into each: all are
    /// read once, and each has those of all. What cannot be known, or cannot be written, is left out.
    ///
    /// - Parameter held: the files of modules that were opened while they were recorded.
    /// - Complexity: O(records), and that of reading the symbols and lines of the modules that were called.
    public static func keep(in paths: [String], _ held: HeldModules) {
        let sessions = paths.compactMap { try? Session(path: $0) }.filter { !$0.isRecording }
        if let names = names(of: sessions, held) { put(names, in: sessions) }
    }

    private static func put(_ names: KeptNames, in sessions: [Session]) {
        names.bytes.withUnsafeBytes { bytes in
            for session in sessions { SessionFiles.put(bytes, as: .names, in: session.path) }
        }
    }

    private static func names(of sessions: [Session], _ held: HeldModules?) -> KeptNames? {
        let seen = sessions.reduce(into: [:]) { $0.merge($1.moduleMoments, uniquingKeysWith: min) }
        let files = Dictionary(
            seen.map { ($0, ModuleSource($0, seen: $1, held)) }, uniquingKeysWith: { first, _ in first })
        var modules =
            allNames(of: sessions, files)
            ?? TouchedAddresses(of: sessions).modules.compactMap { module, addresses in
                files[module]?.first {
                    $0.keep(functions: addresses.functions, sites: addresses.sites, variables: addresses.objects)
                }
            }
        for session in sessions { addLinkages(of: session, files, held, to: &modules) }
        let names = KeptNames(modules)
        return names.isEmpty ? nil : names
    }

    /// Adds what the dynamic linker had to do, where the start was recorded.
    private static func addLinkages(
        of session: Session, _ files: [ModuleIdentity: ModuleSource], _ held: HeldModules?,
        to modules: inout [KeptModule]
    ) {
        guard let kernel = session.kernelStart(), let process = session.startedProcess else { return }
        let libraries = StartupLibraries(session, process, kernel)
        let linkages = libraries.linkages(kept: { _ in nil }) { module in
            let file = files[module] ?? ModuleSource(module, seen: session.startRealtimeNanoseconds, held)
            return file.first(\.dynamicLinkage)
        }
        for (module, linkage) in linkages {
            let index =
                modules.firstIndex { $0.path == module.path && $0.buildID == module.buildID } ?? modules.endIndex
            if index == modules.endIndex { modules.append(KeptModule(path: module.path, buildID: module.buildID)) }
            modules[index].linkage = linkage
        }
    }

    /// From this size on, in bytes, a log may be longer to read than all names are to write; a packed one takes longer.
    private static func largeLog(isPacked: Bool) -> Int { isPacked ? 16 << 20 : 64 << 20 }
    /// All names may take this part of a recording, or so many bytes of one that is small because it is packed.
    private static let part = 100, least = 1 << 20

    /// All names of the modules that may have calls, so that a long log need not be read; nil where they would take too much room,
    /// or where more is asked for than the names of calls.
    private static func allNames(
        of sessions: [Session], _ files: [ModuleIdentity: ModuleSource]
    ) -> [KeptModule]? {
        guard let plainSize = sessions.map(\.plainLogSize).min(), let size = sessions.map(\.logSize).min(),
            plainSize >= largeLog(isPacked: sessions.contains(where: \.isPacked)),
            sessions.allSatisfy({ session in
                session.content == .calls && session.description?.waitSources?.tellsCauses != true
                    && session.processes.allSatisfy { $0.start == nil }
            })
        else { return nil }
        var whole: [ModuleSource] = [], others: [ModuleSource] = [], names = 0
        for file in files.values {
            guard let isCalled = file.mayBeCalled else { continue }
            if !isCalled {
                others.append(file)
                continue
            }
            guard let more = file.first(\.sizeOfAll) else { return nil }
            names += more
            whole.append(file)
        }
        guard names <= max(size / part, least) else { return nil }
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
    /// Until when, in ns of CLOCK_REALTIME, the files at the paths of modules were certainly those that ran: when their process began,
    /// as a module is mapped some time before it is seen. 0 when that is not known.
    var moduleMoments: [ModuleIdentity: UInt64] {
        let latest = description?.programStartNanoseconds ?? .max
        return Dictionary(
            processes.flatMap { process in
                process.modules.map { module in
                    let began = clock.nanoseconds(at: min(process.startTicks, module.seenTicks))
                    let moment = startRealtimeNanoseconds == 0 ? 0 : startRealtimeNanoseconds &+ began
                    return (ModuleIdentity(path: module.path, buildID: module.buildID), min(moment, latest))
                }
            }, uniquingKeysWith: min)
    }

    /// The modules without a build-id at whose paths other files may be by now.
    var changedModules: Set<ModuleIdentity> {
        let moments = moduleMoments
        return Set(moments.keys.filter { isChanged($0, moments) })
    }

    /// Whether a module has no build-id, and another file may be at its path by now.
    func isChanged(_ module: ModuleIdentity) -> Bool { isChanged(module, moduleMoments) }

    private func isChanged(_ module: ModuleIdentity, _ moments: [ModuleIdentity: UInt64]) -> Bool {
        let moment = moments[module] ?? startRealtimeNanoseconds
        return module.buildID.isEmpty && moment > 0 && access(module.path, F_OK) == 0
            && !SessionFiles.isUnchanged(module.path, since: moment)
    }
}
