internal import TraceAnalysis

/// What fills the screen between the title and the line at the bottom.
protocol ScreenPage {
    /// What the title says.
    var name: String { get }
    /// The function that the current line is about.
    var currentFunction: UInt32? { get }
    /// The numbers that lines have; nil where lines have none.
    var columns: [ScreenColumn]? { get set }
    /// - Returns: whether the key means something here.
    mutating func handle(_ key: Key) -> Bool
    /// Goes to the next or the previous match, from the end again to the beginning.
    ///
    /// - Returns: whether there is one.
    mutating func search(_ text: SearchText, forward: Bool) -> Bool
    /// Sorts by the next column.
    ///
    /// - Returns: what it is sorted by now; nil where nothing is sorted.
    mutating func sortByNext() -> String?
    /// Shows what is known now.
    mutating func replace(_ content: ScreenContent)
    /// At most `height` lines of at most `width` columns.
    mutating func lines(width: Int, height: Int, search: SearchText?) -> [ScreenLine]
}

extension ScreenPage {
    var currentFunction: UInt32? { nil }
    var columns: [ScreenColumn]? {
        get { nil }
        set {}
    }
    mutating func sortByNext() -> String? { nil }
    mutating func replace(_ content: ScreenContent) {}
}
