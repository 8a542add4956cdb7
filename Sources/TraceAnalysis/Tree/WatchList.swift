/// Functions that are watched: of all calls, those of these functions are shown, the way to each, and a few levels below.
///
/// The rules are those of InspectiveC (https://github.com/DavidGoldman/InspectiveC): a call within a watched call is shown if
/// it is at most ``relativeDepth`` levels below the innermost watched call that it is in, and a call that leads to a watched
/// one is shown once.
public struct WatchList {
    public var patterns: [Pattern]
    /// Levels to show below a watched call; 0...``deepest``.
    public var relativeDepth: UInt8
    /// Whether all other calls are shown as well.
    public var isComplete: Bool

    public static let deepest: UInt8 = 64

    public init(_ patterns: [Pattern], relativeDepth: UInt8 = 0, isComplete: Bool = false) {
        self.patterns = patterns
        self.relativeDepth = min(relativeDepth, WatchList.deepest)
        self.isComplete = isComplete
    }
}
