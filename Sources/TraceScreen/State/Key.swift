/// A key that the user has pressed.
public enum Key: Equatable, Sendable {
    case character(Unicode.Scalar)
    /// A letter, with Ctrl held down.
    case control(Unicode.Scalar)
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, backspace, tab, backTab
}
