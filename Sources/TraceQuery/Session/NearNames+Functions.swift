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
    public init(to pattern: Pattern, of functions: some Sequence<String>) {
        let isExpression = pattern.text.hasPrefix("/") && pattern.text.hasSuffix("/")
        let names = functions.lazy.map { Pattern.glob(of: $0) }
        self.init(to: isExpression ? "" : pattern.text.filter { !"*?[]".contains($0) }, among: names) { name in
            let isQualified = { (letter: Character) in letter == ":" || letter == "." }
            return [name[...]] + (name.split(whereSeparator: isQualified).last.map { [$0] } ?? [])
        }
    }
}
