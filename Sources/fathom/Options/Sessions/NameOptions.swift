internal import ArgumentParser
internal import TraceAnalysis
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

    @Option(
        name: [.customShort("L", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Only functions that are defined in these files or folders. With @hide behind it, all functions but these.",
            valueName: "file|folder"),
        completion: .file())
    var source: [String] = []

    /// Whether any function is named.
    var isEmpty: Bool { filter.isEmpty && notrace.isEmpty && callerFilter.isEmpty && hide.isEmpty && source.isEmpty }

    /// The options as they are typed.
    var text: String {
        let all = [("-F", filter), ("-N", notrace), ("-C", callerFilter), ("-H", hide), ("-L", source)]
        return CommandText.line(all.flatMap { option, patterns in patterns.flatMap { [option, $0] } })
    }
}

extension NameOptions {
    /// Adds the options to a filter; a bad pattern is bad usage.
    func apply(to result: inout TreeFilter) throws {
        result.only = try filter.map { try namePattern($0) }
        result.without = try notrace.map { try namePattern($0) }
        result.leadingTo = try callerFilter.map { try namePattern($0) }
        result.hidden = try hide.map { try namePattern($0) }
        result.places = try source.map { text in try usage { try PlacePattern(text) } }
    }
}

extension FunctionOptions {
    init(_ names: NameOptions) {
        self.init()
        only = names.filter
        without = names.notrace
        hidden = names.hide
        leadingTo = names.callerFilter
        places = names.source
    }
}
