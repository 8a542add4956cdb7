/// What the screen cannot do by itself.
public enum ScreenAction: Equatable, Sendable {
    case quit
    /// Opens an editor.
    case edit(file: String, line: Int)
    /// Shows what is chosen of ``ScreenContent/choices``, by its place there.
    case choose(Int)
    /// Writes the table to a file of this name.
    case save(String)
}
