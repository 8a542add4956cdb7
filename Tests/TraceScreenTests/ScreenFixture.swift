import TestSupport
import TraceFile
import TraceText

@testable import TraceAnalysis
@testable import TraceScreen

/// A screen of a small recording, told by letters.
struct ScreenFixture {
    private let directory: TemporaryDirectory
    var screen: TraceScreen
    /// Where names come from; other letters are their own names.
    static let names: [Character: String] = [
        "m": "main", "p": "parse(char const*)", "q": "parse<int>(char const*)", "r": "run", "s": "sort", "w": "work",
        "L": String(repeating: "long::", count: 60) + "name", "W": "計算する関数の名前がとても長い場合の表示を確かめる関数名前名前名前名前",
    ]

    /// - Parameters:
    ///   - calls: letters enter a call, `.` leaves one; each takes 10 us.
    ///   - columns: of the screen.
    init(
        _ calls: String, columns: Int = 60, rows: Int = 12, start: TraceScreen.Start = .tree, isLive: Bool = false,
        characters: Characters = .all, surroundings: ScreenSurroundings = ScreenSurroundings()
    ) throws {
        directory = try TemporaryDirectory("screen")
        let functions = ScreenFixture.functions()
        let content = try ScreenFixture.content(calls, functions, in: directory, isLive: isLive)
        screen = TraceScreen(content, start, characters: characters, surroundings: surroundings)
        screen.resize(columns: columns, rows: rows)
    }

    static func functions() -> FunctionTable {
        FunctionTable { _, address in
            let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: address)))
            let name = names[letter] ?? String(letter)
            let hasFile = letter != "s"
            return ResolvedFunction(
                name: name, module: "/bin/program", file: hasFile ? "/src/\(letter).c" : nil, line: hasFile ? 7 : 0)
        }
    }

    static func content(
        _ calls: String, _ functions: FunctionTable, in directory: TemporaryDirectory, isLive: Bool = false
    ) throws -> ScreenContent {
        try TraceWriter.session(directory.file("x.fathom")) { records in
            for (index, letter) in calls.utf8.enumerated() {
                let time = UInt64(index + 1) * 10_000
                if letter == UInt8(ascii: ".") {
                    records.exit(at: time)
                } else {
                    records.enter(UInt64(letter), at: time)
                }
            }
        }
        let session = try Session(path: directory.file("x.fathom"))
        let tree = Aggregation(of: session, resolver: FunctionResolver(functions), filter: TreeFilter())
            .tree(of: session.processes.flatMap(\.threads))
        var content = ScreenContent(tree, rows: tree.rows(by: .function), title: "x.fathom")
        content.isLive = isLive
        content.choices = [ScreenContent.Choice("everything"), ScreenContent.Choice("thread 1", level: 1)]
        return content
    }

    /// Presses keys: each character is one.
    @discardableResult
    mutating func type(_ keys: String) -> ScreenAction? {
        keys.unicodeScalars.reduce(nil) { _, key in screen.handle(.character(key)) }
    }

    @discardableResult
    mutating func press(_ keys: Key...) -> ScreenAction? { keys.reduce(nil) { _, key in screen.handle(key) } }

    /// The lines between the title and the place, without spaces at their ends; the current one begins with `>`.
    mutating func body() -> [String] {
        var lines = screen.lines().dropFirst().dropLast(2).map { line in
            var text = line.text
            while text.last == " " { text.removeLast() }
            return (line.isHighlighted ? ">" : " ") + text
        }
        while lines.last == " " { lines.removeLast() }
        return lines
    }

    /// What the current line shows, without its numbers.
    mutating func current() -> String? {
        screen.lines().dropFirst().first { $0.isHighlighted }
            .map {
                $0.text.split(separator: " ").drop {
                    $0.first?.isNumber ?? false || ["us", "ns", "ms", "–"].contains($0)
                }
            }
            .map { $0.joined(separator: " ") }
    }

    mutating func title() -> String { screen.lines().first?.text ?? "" }

    mutating func bottom() -> String { screen.lines().last?.text ?? "" }
}
