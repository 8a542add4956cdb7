internal import ArgumentParser
internal import TraceFile

/// Whose arguments and results are recorded.
struct ArgumentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Record the arguments of these functions, or only those that are named: 'parse:text,depth', 'handle:request->path'. \
            It takes debug information (-g).
            """, valueName: "glob[:name,...]"), completion: .function)
    var args: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Record what these functions return, which takes debug information (-g).
            """, valueName: "glob"), completion: .function)
    var returns: [String] = []

    @Option(
        help: ArgumentHelp(
            "Bytes of a text to record as an argument or a result, 1 to \(FunctionOptions.textLimits.upperBound) (default: \(FunctionOptions.defaultTextLimit)).",
            valueName: "bytes"))
    var argsLength: UInt32?

    func validate() throws {
        #if !arch(x86_64)
            if !args.isEmpty { throw ValidationError("--args works on x86-64 only") }
            if !returns.isEmpty { throw ValidationError("--returns works on x86-64 only") }
        #endif
        guard let argsLength else { return }
        if args.isEmpty, returns.isEmpty {
            throw ValidationError("--args-length is of --args and --returns, which say of which functions")
        }
        guard FunctionOptions.textLimits.contains(argsLength) else {
            throw ValidationError("--args-length is from 1 to \(FunctionOptions.textLimits.upperBound)")
        }
    }
}
