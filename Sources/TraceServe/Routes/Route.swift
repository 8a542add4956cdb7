/// What can be asked for, below the token.
enum Route: Equatable {
    case page
    case session
    case events
    /// A source file, by what functions in it are told to be in.
    case source(String)
    case names(from: Int)
    case picture(PictureRequest)
    /// What threads waited for that were in view.
    case waits(StretchRequest)
    case call(CallRequest)
    case filter(AskRequest, from: Int)
    case ask(AskRequest)

    /// - Parameters:
    ///   - target: what stands behind the token.
    ///   - tracks: how many tracks the session has; asked where it matters, because that may take a while.
    /// - Returns: nil where there is nothing by that name.
    init?(_ target: Substring, tracks: () throws(BadRequest) -> Int) throws(BadRequest) {
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var parameters = try Parameters(halves.count > 1 ? halves[1] : "")
        switch halves[0] {
        case "": self = .page
        case "session": self = .session
        case "events": self = .events
        case "source":
            guard let file = try parameters.text("file") else { throw BadRequest("The parameter file is missing.") }
            self = .source(file)
        case "names": self = .names(from: try parameters.number("from", in: 0...Int(UInt32.max)))
        case "picture": self = .picture(try PictureRequest(&parameters, tracks: tracks()))
        case "waits": self = .waits(try StretchRequest(&parameters, tracks: tracks()))
        case "filter":
            let first: Int = try parameters.number("from", in: 0...Int(UInt32.max))
            self = .filter(try AskRequest(filters: &parameters), from: first)
        case "call": self = .call(try CallRequest(&parameters, tracks: tracks()))
        case let path where path.hasPrefix("ask/"):
            guard let request = try AskRequest(path.dropFirst("ask/".count), &parameters) else { return nil }
            self = .ask(request)
        default: return nil
        }
        try parameters.end()
    }
}
