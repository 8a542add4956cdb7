internal import Glibc
public import TraceFile
internal import TraceQuery
public import TraceRecording
internal import TraceSymbols

extension RecordingRequest {
    /// A request to run a program that can be recorded.
    ///
    /// - Parameters:
    ///   - executable: the program's file.
    ///   - session: where the session is to be.
    ///   - force: whether a program without hooks will do.
    /// - Throws: ``Refusal`` when it cannot; ``SymbolProblem`` when it cannot be read.
    public init(
        of executable: String, _ arguments: [String], into session: String, _ options: RecordOptions,
        force: Bool = false
    ) throws {
        let program = try ExecutableInspection.inspect(
            path: executable, libraryPath: getenv("LD_LIBRARY_PATH").map { String(cString: $0) })
        let isFirst = options.mode == .firstCalls
        let refusal =
            isFirst
            ? Refusal(ofFirstCallsIn: program, at: executable)
            : Refusal(
                of: program, at: executable, force: force || options.needsNoHooks,
                tellsStartup: options.tellsStartup)
        if let refusal { throw refusal }
        self.init(executable: executable, arguments: arguments, session: session, record: options)
        if options.tellsStartup, program.kind == .elfStatic, !program.hasFathomRuntime {
            mainAddress = MainFunction.fixedAddress(in: executable)
        }
        keepNames = SessionNames.keep
        hasHooks = { path in
            guard let program = try? ExecutableInspection.inspect(path: path) else { return false }
            if case .script(let interpreter) = program.kind {
                return (try? ExecutableInspection.inspect(path: interpreter))?.isInstrumented ?? false
            }
            return program.isInstrumented
        }
    }
}
