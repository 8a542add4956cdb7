internal import ArgumentParser

/// What the commands that set two sides side by side have in common.
struct ChangeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Changes of a smaller part do not matter: they count as none, or are summed up (default: 1%).",
            valueName: "percent"),
        transform: Percentage.init(argument:))
    var threshold = Percentage(percent: 1)

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Draw a flame graph of what is compared, coloured by change: a page, or a picture if it ends in .svg.",
            valueName: "file"), completion: .file())
    var output: String?

    /// The threshold as a part of 1.
    var least: Double { threshold.percent / 100 }

    /// Returns the file to draw, if one is asked for. Throws where the name is not one of a flame graph.
    func flameFile() throws -> FlameFile? { try output.map { try FlameFile($0) } }
}
