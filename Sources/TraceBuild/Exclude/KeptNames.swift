internal import Glibc

/// The names of functions that no pattern of an exclude list is to leave out.
public struct KeptNames {
    /// All of them, a line each.
    private let names: String

    public init(_ names: [String]) { self.names = names.joined(separator: "\n") }

    /// Whether a compiler would leave out one of them for `pattern`; see ``ExcludePattern/leavesOut(_:_:)``. What clang's
    /// pattern matches has the text in it that gcc looks for.
    ///
    /// - Complexity: O(bytes of all names).
    public func areLeftOut(by pattern: String) -> Bool {
        let text = ExcludePattern.gccText(pattern)
        return text.isEmpty || strstr(names, text) != nil
    }
}
