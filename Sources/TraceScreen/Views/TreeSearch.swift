internal import TraceAnalysis

/// Finds the paths of a tree whose functions match, in the order in which they are shown, whether or not they are open.
struct TreeSearch {
    private let part: TreePart
    private let matches: [Bool]
    /// For each path, whether one below it matches.
    private let leads: [Bool]

    /// - Complexity: O(n) in the number of paths.
    init(_ part: TreePart, _ text: SearchText) {
        self.part = part
        let tree = part.tree
        var known = [Bool?](repeating: nil, count: tree.functions.functions.count)
        var matches = [Bool](repeating: false, count: tree.paths.count)
        var leads = matches
        for (index, path) in tree.paths.enumerated() {
            let function = Int(path.function)
            let isMatch = known[function] ?? text.matches(tree.functions[path.function].name)
            known[function] = isMatch
            matches[index] = isMatch
        }
        for index in tree.paths.indices.reversed() where matches[index] || leads[index] {
            let parent = part.parent(index)
            if parent >= 0 { leads[parent] = true }
        }
        self.matches = matches
        self.leads = leads
    }

    /// Finds the next match behind `path`, or the first one for -1; nil when there is none.
    func next(after path: Int) -> Int? {
        if let found = first(among: part.callees(of: path)) { return found }
        var path = path
        while path >= 0 {
            let parent = part.parent(path)
            let siblings = part.callees(of: parent)
            let place = siblings.firstIndex(of: path)!
            if let found = first(among: Array(siblings[(place + 1)...])) { return found }
            path = parent
        }
        return nil
    }

    /// The last match in front of `path`, or the very last one for -1; nil when there is none.
    func previous(before path: Int) -> Int? {
        if path < 0 { return last(among: part.callees(of: -1)) }
        var path = path
        while path >= 0 {
            let parent = part.parent(path)
            let siblings = part.callees(of: parent)
            let place = siblings.firstIndex(of: path)!
            if let found = last(among: Array(siblings[..<place])) { return found }
            if parent >= 0, matches[parent] { return parent }
            path = parent
        }
        return nil
    }

    private func first(among siblings: [Int]) -> Int? {
        var siblings = siblings
        while let path = siblings.first(where: { matches[$0] || leads[$0] }) {
            if matches[path] { return path }
            siblings = part.callees(of: path)
        }
        return nil
    }

    private func last(among siblings: [Int]) -> Int? {
        var siblings = siblings
        var found: Int?
        while let path = siblings.last(where: { matches[$0] || leads[$0] }) {
            if matches[path] { found = path }
            guard leads[path] else { return path }
            found = nil
            siblings = part.callees(of: path)
        }
        return found
    }
}
