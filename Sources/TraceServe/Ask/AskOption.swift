/// An option of a command that the page may use.
struct AskOption: Sendable {
    let name: String
    /// Its short name, a letter.
    var letter: Character?
    var takesValue = true
    /// Whether its value is the session that another one is compared with, which the server knows, and the page does not say.
    var isOfBefore = false
}

/// A command that the page may have answered, with what it may say to it. What is not here is refused: above all what names
/// a file or another session, opens or writes something, or asks for another format.
struct AskCommand: Sendable {
    let name: String
    let options: [AskOption]
    /// How many words it takes behind the session: names of functions.
    var words = 0
    /// The options by which it answers in JSON, on standard output.
    var format = ["--format=json"]
    /// Whether each line of the answer is a value by itself.
    var answersByLine = false
    /// Whether it is asked of two sessions: before and after.
    var compares = false

    static let all = [
        AskCommand(
            name: "report",
            options: filters + threads + valued("times", "sort", "by", "by-arg", "callers", "callees", "limit")
                + flags("raw", "corrected", "clip")),
        AskCommand(
            name: "tree",
            options: filters + threads
                + valued("watch", "relative-depth", "when", "times", "memory", "faults", "limit", "sort")
                + flags("complete", "no-fold", "lines", "call-sites")),
        AskCommand(
            name: "graph",
            options: filters + threads + valued("time", "threshold", "limit") + flags("raw", "corrected", "clip"),
            words: 1),
        AskCommand(
            name: "tail", options: filters + threads + valued("slowest", "threshold", "limit"), words: 1),
        AskCommand(
            name: "waits", options: threads + [AskOption(name: "min-cost", letter: "t")] + valued("longest", "limit")),
        AskCommand(name: "chain", options: threads + valued("call", "from", "to", "without", "limit")),
        AskCommand(
            name: "flame",
            options: filters + threads + valued("time", "memory", "faults", "colour")
                + flags("inverted", "time-order", "clip")
                + [AskOption(name: "diff", takesValue: false, isOfBefore: true)],
            format: ["--format=json", "--output=-"]),
        AskCommand(
            name: "diff",
            options: filters + threads + valued("time", "by", "sort", "limit", "threshold") + flags("all"),
            compares: true),
        AskCommand(
            name: "info",
            options: [AskOption(name: "min-cost", letter: "t")] + valued("limit")
                + flags("modules", "check", "tree", "no-fold")),
        AskCommand(
            name: "dump", options: threads + flags("chunks"), format: ["--format=jsonl"], answersByLine: true),
    ]

    /// The filters of all of them.
    static let filter = AskCommand(name: "filter", options: filters)

    private static let filters =
        [
            AskOption(name: "max-depth", letter: "D"), AskOption(name: "min-cost", letter: "t"),
            AskOption(name: "filter", letter: "F"), AskOption(name: "notrace", letter: "N"),
            AskOption(name: "caller-filter", letter: "C"), AskOption(name: "hide", letter: "H"),
            AskOption(name: "source", letter: "L"), AskOption(name: "min-size", letter: "Z"),
            AskOption(name: "trigger", letter: "T"), AskOption(name: "range", letter: "r"),
        ] + valued("from", "to") + flags("raw-names")
    private static let threads = valued("thread", "process")

    private static func valued(_ names: String...) -> [AskOption] { names.map { AskOption(name: $0) } }

    private static func flags(_ names: String...) -> [AskOption] {
        names.map { AskOption(name: $0, takesValue: false) }
    }
}
