internal import ArgumentParser

/// How a command shows its result on a terminal.
struct ScreenOptions: ParsableArguments {
    enum Colours: String, CaseIterable, ExpressibleByArgument { case auto, always, never }

    @Option(
        name: [.customLong("color"), .customLong("colour")],
        help: ArgumentHelp("Use colours; auto does so on terminals, unless NO_COLOR is set.", valueName: "when"))
    var colours = Colours.auto

    @Flag(help: "Do not show by FATHOM_PAGER, PAGER or less what is longer than the terminal.")
    var noPager = false
}
