public import TraceFile
public import TraceQuery

/// What draws the recording: parameters come checked, and bytes go out as they are sent.
///
/// Several threads call this at once. Whatever is thrown is told in one sentence (503).
public protocol PictureSource: Sendable {
    /// How far summaries are made, 0...1.
    var summaries: Double { get }

    /// A picture of some tracks, in the form that the page reads.
    func picture(_ request: PictureRequest) throws -> [UInt8]

    /// The functions from number `first` on that pictures have named so far, as JSON.
    func names(from first: Int) throws -> [UInt8]

    /// The call that is open at a place of a picture, as JSON; nil where none is.
    func call(_ request: CallRequest) throws -> [UInt8]?

    /// What filters say of the functions from number `first` on, as JSON.
    ///
    /// - Parameter words: options as the command line takes them.
    func filter(_ words: [String], from first: Int) throws -> [UInt8]

    /// Begins to draw; `order` has the tracks.
    func begin(order: [PictureQuery.ThreadName])

    /// The recording has grown, and is `session` now. Tracks and functions keep their numbers.
    ///
    /// - Parameter order: the tracks; `session` may have more.
    /// - Returns: whether it is drawn now; if not, this may be tried again.
    func grow(to session: sending Session, order: [PictureQuery.ThreadName]) -> Bool

    /// The server ends: who waits for a picture is not to wait any longer.
    func stop()
}

/// A part of what was recorded.
public struct StretchRequest: Sendable, Equatable {
    /// ns since the session's start; not empty.
    public var time: Range<UInt64>
    /// Indices among the session's tracks; each is there.
    public var tracks: [Int]

    init(_ parameters: inout Parameters, tracks count: Int) throws(BadRequest) {
        let from: UInt64 = try parameters.number("from", in: 0...PictureRequest.lastMoment)
        let to: UInt64 = try parameters.number("to", in: 0...PictureRequest.lastMoment)
        if from >= to { throw BadRequest("Nothing lies between from and to.") }
        time = from..<to
        let words = (try parameters.text("tracks") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        tracks = []
        for word in words {
            guard let track = Parameters.number(word, in: 0...Int.max), track < count else {
                throw BadRequest("There is no track '\(word.prefix(20))': they are 0 to \(count - 1).")
            }
            tracks.append(track)
        }
        guard Set(tracks).count == tracks.count else { throw BadRequest("A track is there more than once.") }
    }
}

/// A picture that is asked for.
public struct PictureRequest: Sendable, Equatable {
    /// ns since the session's start; not empty.
    public var time: Range<UInt64>
    /// Pixels, 1 to ``mostPixels``.
    public var width: Int
    /// Indices among the session's tracks; each is there.
    public var tracks: [Int]
    /// Depths of calls, 0 the outermost; not empty.
    public var rows: Range<Int>

    public static let mostPixels = 16_384
    static let mostRows = 65_536
    /// Later moments are not told exactly in a page: some 104 days.
    static let lastMoment: UInt64 = 1 << 53

    init(_ parameters: inout Parameters, tracks count: Int) throws(BadRequest) {
        let stretch = try StretchRequest(&parameters, tracks: count)
        (time, tracks) = (stretch.time, stretch.tracks)
        width = try parameters.number("width", in: 1...PictureRequest.mostPixels)
        let ends = (try parameters.text("rows") ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Parameters.number(ends[0], in: 0...PictureRequest.mostRows - 1),
            let last = Parameters.number(ends[1], in: first...PictureRequest.mostRows - 1)
        else { throw BadRequest("The parameter rows is a first and a last row, as 0-39.") }
        rows = first..<last + 1
    }
}

/// A place of a picture.
public struct CallRequest: Sendable, Equatable {
    /// Index among the session's tracks; it is there.
    public var track: Int
    /// The call's depth.
    public var row: Int
    /// ns since the session's start.
    public var moment: UInt64

    init(_ parameters: inout Parameters, tracks count: Int) throws(BadRequest) {
        if count == 0 { throw BadRequest("The recording has no track.") }
        track = try parameters.number("track", in: 0...count - 1)
        row = try parameters.number("row", in: 0...PictureRequest.mostRows - 1)
        moment = try parameters.number("at", in: 0...PictureRequest.lastMoment)
    }
}
