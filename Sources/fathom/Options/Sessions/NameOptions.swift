internal import ArgumentParser
internal import TraceFile
internal import TraceText

/// Which functions count, alike in every command that shows or records calls.
struct NameOptions: ParsableArguments {
    @Option(
        name: [.customShort("F", allowingJoined: true), .long],
        help: ArgumentHelp("Only these functions and what they call.", valueName: "glob|/regex/"),
        completion: .function)
    var filter: [String] = []

    @Option(
        name: [.customShort("N", allowingJoined: true), .long],
        help: ArgumentHelp("Not these functions, nor what they call.", valueName: "glob|/regex/"),
        completion: .function)
    var notrace: [String] = []

    @Option(
        name: [.customShort("C", allowingJoined: true), .long],
        help: ArgumentHelp("Only call paths that lead to these functions.", valueName: "glob|/regex/"),
        completion: .function)
    var callerFilter: [String] = []

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: ArgumentHelp("Not these functions, but what they call.", valueName: "glob|/regex/"),
        completion: .function)
    var hide: [String] = []

    /// The options as they are typed.
    var text: String {
        let all = [("-F", filter), ("-N", notrace), ("-C", callerFilter), ("-H", hide)]
        return CommandText.line(all.flatMap { option, patterns in patterns.flatMap { [option, $0] } })
    }
}

extension FunctionOptions {
    init(_ names: NameOptions) {
        self.init()
        only = names.filter
        without = names.notrace
        hidden = names.hide
        leadingTo = names.callerFilter
    }
}
