/// A line that the user types.
struct Prompt: Equatable {
    enum Purpose { case search, filter, save }

    let purpose: Purpose
    private(set) var text: String

    /// What has become of the prompt.
    enum Outcome: Equatable {
        case goesOn, given, left
    }

    init(_ purpose: Purpose, _ text: String = "") {
        self.purpose = purpose
        self.text = text
    }

    /// What stands before the text.
    var label: String {
        switch purpose {
        case .search: "/"
        case .filter: "only these functions and what they call (glob or /regex/, empty for all): "
        case .save: "save the table as (.txt, .csv or .json): "
        }
    }

    mutating func handle(_ key: Key) -> Outcome {
        switch key {
        case .enter: return .given
        case .escape, .control("g"): return .left
        case .backspace:
            if text.isEmpty { return .left }
            text.unicodeScalars.removeLast()
        case .control("u"): text = ""
        case .character(let scalar): text.unicodeScalars.append(scalar)
        default: break
        }
        return .goesOn
    }
}
