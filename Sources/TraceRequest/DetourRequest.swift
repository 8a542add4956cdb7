internal import Glibc
internal import TraceAnalysis
public import TraceFile
internal import TraceQuery
internal import TraceSymbols
internal import TraceText

/// Which functions of a program and its libraries get detours, so that their calls are recorded without hooks.
public struct DetourRequest: Sendable {
    private let glob: String
    private let modules: [String]
    private let minSize: UInt64

    /// - Parameters:
    ///   - glob: which names functions have that are asked for, with `*` and `?`.
    ///   - modules: patterns of the modules that are asked for; see ``ChosenModules``.
    ///   - minSize: in bytes of code: smaller functions get none.
    /// - Throws: ``Refusal`` when the program can have none; ``Pattern/InvalidPattern``.
    public init(of executable: String, _ glob: String, modules: [String], minSize: Int?) throws {
        _ = try ChosenModules(modules)
        _ = try Pattern(unqualified: glob)
        if FunctionEntries.hasThreadSanitizer(executable) {
            throw Refusal(
                "\(executable): the thread sanitizer blocks all signals while handlers of signals run, and watches the stack itself; compile it without -fsanitize=thread"
            )
        }
        self.glob = glob
        self.modules = modules
        self.minSize = UInt64(minSize ?? 0)
    }

    /// Whether a module is asked for.
    ///
    /// - Parameter isProgram: whether it is the program itself; nil: the file tells.
    public func holds(_ path: String, isProgram: Bool?) -> Bool {
        guard let choice = try? ChosenModules(modules) else { return false }
        return choice.holds(path, isProgram: isProgram ?? FunctionEntries.isProgram(path))
    }

    /// A module's functions, as far as they get detours, and what is said of it before the program starts.
    public struct Answer: Sendable {
        public var functions: [NamedFunction] = []
        /// nil: the module is not asked for.
        public var line: String?
    }

    /// - Parameters:
    ///   - known: the module's functions that options name; those whose calls are to leave no record get no detours.
    ///   - isProgram: as for ``holds(_:isProgram:)``.
    /// - Complexity: O(bytes of code + n log n in the number of functions).
    public func answer(_ module: ModuleFile, _ known: [NamedFunction], isProgram: Bool?) -> Answer {
        guard holds(module.path, isProgram: isProgram) else { return Answer() }
        let name = PathText.name(module.path).visible
        let found: DetourEntries
        do throws(SymbolProblem) {
            found = try DetourEntries(path: module.path, buildID: module.buildID)
        } catch {
            return Answer(line: "warning: --any: \(error)")
        }
        if let refusal = found.refusal { return Answer(line: "warning: --any: \(name) \(refusal)") }
        var answer = Answer()
        let hidden = Set(known.filter { $0.rule.isOnlyHidden }.flatMap(\.addresses))
        let pattern = glob == "*" ? nil : try? Pattern(unqualified: glob)
        for entry in found.entries where entry.size >= minSize && !hidden.contains(entry.address) {
            if let pattern {
                guard let name = entry.name, pattern.matches(name) else { continue }
            }
            var function = NamedFunction(name: "", addresses: [entry.address], rule: FunctionRule())
            function.detour = entry.code
            answer.functions.append(function)
        }
        answer.line = Self.line(name, answer.functions.count, found)
        return answer
    }

    /// What is said at the end of modules that were asked for, were not known before the program started, and can have no detours.
    ///
    /// - Parameter known: the names of those that were known before, and were told of then.
    public func refusals(_ session: Session, besides known: Set<String>) -> [String] {
        var lines: Set<String> = [], seen: Set<String> = []
        for module in session.processes.flatMap(\.modules) where module.detours == nil {
            // Processes share most of their modules.
            guard seen.insert("\(module.isUnselected) \(module.buildID) \(module.path)").inserted,
                holds(module.path, isProgram: nil)
            else { continue }
            let name = PathText.name(module.path)
            if module.isUnselected {
                lines.insert(
                    "warning: the functions of \(name.visible) have no detours, because it took too long to judge them")
            } else if !known.contains(name),
                let refusal = DetourEntries.refusal(of: module.path, buildID: module.buildID)
            {
                lines.insert("warning: --any: \(name.visible) \(refusal)")
            }
        }
        return lines.sorted()
    }

    private static func line(_ name: String, _ count: Int, _ found: DetourEntries) -> String {
        let all = found.entries.count + found.refused.count
        return
            "\(CountText.grouped(UInt64(count))) of \(CountText.grouped(UInt64(all))) functions of \(name) get detours"
            + (found.isStripped ? "; it is stripped, so most are known by their addresses only" : "")
    }
}

extension FunctionRule {
    /// Whether calls of the function leave no record, and nothing else is asked of them.
    fileprivate var isOnlyHidden: Bool {
        selection == .hidden && trigger.actions.isEmpty && !recordsArguments && !recordsResults
    }
}
