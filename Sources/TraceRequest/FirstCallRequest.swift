internal import Glibc
public import TraceFile
public import TraceQuery
public import TraceRecording
internal import TraceSymbols
internal import TraceText

/// Which functions of a program get traps, so that their first calls are recorded.
public struct FirstCallRequest {
    public let functions: RecordingRequest.Functions
    /// Whether the program's functions have names.
    public let hasNames: Bool
    /// What is said of the modules before the program starts, a line each.
    public let lines: [String]

    /// - Parameters:
    ///   - executable: a program, or a script, whose interpreter is asked for when it runs.
    ///   - patterns: of the modules that are asked for; see ``ChosenModules``.
    /// - Throws: ``Refusal`` when no function can get a trap; ``Pattern/InvalidPattern``.
    public init(of executable: String, _ patterns: [String]) throws {
        let choice = try ChosenModules(patterns)
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        if FunctionEntries.hasThreadSanitizer(executable) {
            throw Refusal(
                "\(executable): the thread sanitizer blocks all signals while handlers of signals run, and a trap would end the program then; compile it without -fsanitize=thread"
            )
        }
        let modules = (try? FunctionEntries.modules(of: executable, libraryPath: libraryPath)) ?? []
        var known: [(module: ModuleFile, functions: [NamedFunction]?)] = []
        var lines: [String] = []
        var problem: String?
        var count = 0
        var hasNames = true
        for (index, module) in modules.enumerated() {
            let file = ModuleFile(path: module.path, buildID: module.buildID)
            guard choice.holds(module.path, isProgram: index == 0) else {
                known.append((file, []))
                continue
            }
            do throws(SymbolProblem) {
                let found = try FunctionEntries(path: module.path, buildID: module.buildID)
                known.append((file, FirstCallRequest.named(found)))
                if index == 0 { hasNames = !found.isStripped }
                lines.append(FirstCallRequest.line(found))
                count += found.entries.count
            } catch {
                known.append((file, []))
                problem = problem ?? "\(error)"
            }
        }
        // Modules that were asked for by name may be loaded later.
        if !modules.isEmpty, count == 0, !patterns.isEmpty, lines.isEmpty, problem == nil {
            lines.append(
                "no module that the program is started with is asked for; those that it loads later get traps then")
        } else if !modules.isEmpty, count == 0 {
            throw Refusal(
                "\(executable): no function can get a trap: neither symbols nor tables for unwinding tell of any, in the modules that are asked for"
            )
        }
        var all = FunctionRule()
        all.entryByte = 0
        functions = RecordingRequest.Functions(
            all: all, known: known,
            find: { file in
                guard let choice = try? ChosenModules(patterns),
                    choice.holds(file.path, isProgram: FunctionEntries.isProgram(file.path)),
                    !FunctionEntries.hasThreadSanitizer(file.path)
                else { return [] }
                return (try? FunctionEntries(path: file.path, buildID: file.buildID)).map(FirstCallRequest.named) ?? []
            })
        self.lines = lines
        self.hasNames = hasNames
    }

    private static func named(_ found: FunctionEntries) -> [NamedFunction] {
        found.entries.map { entry in
            var rule = FunctionRule()
            rule.entryByte = entry.byte
            return NamedFunction(name: "", addresses: [entry.address], rule: rule)
        }
    }

    private static func line(_ found: FunctionEntries) -> String {
        let name = PathText.name(found.path).visible
        let count = CountText.grouped(UInt64(found.entries.count))
        return "\(count) functions of \(name) get traps"
            + (found.isStripped ? "; it is stripped, so most are known by their addresses only" : "")
            + (found.leftAlone > 0
                ? "; \(CountText.grouped(UInt64(found.leftAlone))) are left alone, because their code is not like a compiler's"
                : "")
    }

    /// The modules whose functions got no traps, a line each, once the program has run.
    public static func refusals(_ session: Session, _ choice: ChosenModules) -> [String] {
        var paths: Set<String> = []
        for process in session.processes {
            for module in process.modules
            where module.isUnselected && choice.holds(module.path, isProgram: module.path == process.path) {
                paths.insert(module.path)
            }
        }
        return paths.sorted().map {
            "warning: \($0.visible): no first calls: the system does not let traps be written into its code, or its symbols took too long to read"
        }
    }
}
