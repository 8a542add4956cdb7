internal import TraceText

/// The command line of this process, byte for byte: `CommandLine.arguments` repairs what is not UTF-8, which would be other names and
/// other arguments.
enum GivenArguments {
    static let all = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).compactMap {
        $0.map { String(rawCString: $0) }
    }
}
