/// Call paths by number, each made when it is first asked for. Number 0 is the empty path.
public struct WaitPaths {
    private struct Step: Hashable {
        var caller: Int32
        var function: UInt32
    }

    private var steps: [Step] = [Step(caller: -1, function: 0)]
    private var numbers: [Step: Int32] = [:]

    /// The path of `function` called from path `caller`.
    mutating func path(_ function: UInt32, from caller: Int32) -> Int32 {
        let step = Step(caller: caller, function: function)
        if let known = numbers[step] { return known }
        steps.append(step)
        numbers[step] = Int32(steps.count - 1)
        return Int32(steps.count - 1)
    }

    /// The id of its innermost function; nil of the empty path.
    func last(of path: Int32) -> UInt32? { path > 0 ? steps[Int(path)].function : nil }

    /// The ids of its functions, the outermost first.
    public func functions(of path: Int32) -> [UInt32] {
        var result: [UInt32] = []
        var path = path
        while path > 0 {
            result.append(steps[Int(path)].function)
            path = steps[Int(path)].caller
        }
        return result.reversed()
    }
}
