internal import ArgumentParser
internal import Glibc
internal import TraceBuild
internal import TraceDoctor
internal import TraceFile
internal import TraceReports
internal import TraceRequest
internal import TraceSymbols
internal import TraceText

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what this machine allows, and how to change what it does not.",
        usage: "fathom doctor [<options>] [<program>]",
        examples: [
            ("fathom doctor", "Looks at the clock, the disk, the kernel's settings and the compilers."),
            ("fathom doctor ./prog", "Looks at a program, too: can it be recorded, and has it names and lines?"),
        ])

    @Argument(help: "A program that is to be recorded.", completion: .file())
    var program: String?

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "text or json.")
    var format = ReportFormat.text

    func run() throws {
        var facts = MachineFacts(root: "")
        facts.missingParts = Installation.missingParts
        facts.counterIsTrusted = SessionClock.counterIsTrusted()
        facts.debuginfod = getenv("DEBUGINFOD_URLS").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        facts.compilers = InstalledCompiler.all()
        if let program {
            try FileName.check(program)
            facts.program = try inspect(program)
        }
        let diagnosis = Diagnosis(facts)
        let screen = Screen(screenOptions, format)
        let report = DoctorReport(diagnosis, width: screen.layout.width, isColoured: screen.layout.isColoured)
        try screen.show(report, as: format)
        if !diagnosis.isWell { throw ExitStatus.nothing.code }
    }

    private func inspect(_ path: String) throws -> MachineFacts.Program {
        if access(path, R_OK) != 0 { throw Diagnostics.fail("\(path): \(String(cString: strerror(errno)))", .failed) }
        do throws(SymbolProblem) {
            let inspection = try ExecutableInspection.inspect(
                path: path, libraryPath: getenv("LD_LIBRARY_PATH").map { String(cString: $0) })
            // A stripped program has no functions to look at.
            let modules = (try? hookedModules(of: path)) ?? []
            var program = MachineFacts.Program(
                path: path, refusal: Refusal(of: inspection, at: path, force: false)?.description,
                functionCount: modules.reduce(0) { $0 + $1.functions.functions.count },
                hookedCount: modules.reduce(0) { $0 + $1.functions.hookedCount },
                hasLines: ModuleSymbols(path: path, buildID: []).hasLines)
            program.isLibrary = inspection.kind == .sharedLibrary
            if program.hookedCount == 0, !inspection.hasFathomRuntime { program.detours = detours(of: path) }
            return program
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
    }

    private func detours(of path: String) -> MachineFacts.Program.Detours? {
        guard let found = try? DetourEntries(path: path) else { return nil }
        let names = Dictionary(grouping: found.refused, by: \.reason)
        return MachineFacts.Program.Detours(
            fit: found.entries.count,
            refused: DetourEntries.Reason.allCases.map { ($0.text, names[$0]?.map(\.name.visible) ?? []) },
            refusal: found.refusal)
    }
}

extension DetourEntries.Reason {
    /// In words that go on behind a number of functions.
    fileprivate var text: String {
        switch self {
        case .known: "are left alone for what they do with the stack"
        case .notDecoded: "are not code as compilers make it"
        case .loops: "come back to their beginning"
        case .tooShort: "are too short"
        case .entered: "have a branch into their first bytes"
        case .fixed: "begin with what cannot be moved"
        case .looks: "look at where they return to"
        case .unwinding: "have no table that says where they return to"
        }
    }
}
