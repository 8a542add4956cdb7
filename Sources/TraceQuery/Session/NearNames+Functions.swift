public import TraceAnalysis
public import TraceText

extension NearNames {
    /// The functions that somebody may have meant by a pattern that matches none, as a pattern names them: without their
    /// arguments. Of qualified names, the last part may have been meant, too.
    ///
    /// - Complexity: O(length of `pattern` · length of all names); names that nobody has asked for are made.
    public init(to pattern: Pattern, in functions: FunctionTable) {
        self.init(to: pattern, of: functions.functions.indices.lazy.map { functions[UInt32($0)].name })
    }

    /// The same among functions of these names.
    public init(to pattern: Pattern, of functions: some Collection<String>) {
        func lastPart(_ name: String) -> Substring? { name.split { $0 == ":" || $0 == "." }.last }
        func near(to name: String) -> NearNames {
            NearNames(to: name, among: functions.lazy.map { Pattern.glob(of: $0) }) { candidate in
                [candidate[...]] + (lastPart(candidate).map { [$0] } ?? [])
            }
        }
        let asked = pattern.askedName
        self = near(to: asked)
        // Of a qualified name that there is not, the last part may be right.
        if self == .none, let last = lastPart(asked), last != asked { self = near(to: String(last)) }
    }
}
