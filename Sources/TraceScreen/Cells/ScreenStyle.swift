/// How text stands out on the screen. The terminal decides what becomes of it.
public enum ScreenStyle: Sendable {
    case plain
    /// Headings.
    case bold
    /// What is said besides.
    case dim
    /// The hottest numbers, and what has gone wrong.
    case hot
    case warm
    /// What a search has found.
    case found
}
