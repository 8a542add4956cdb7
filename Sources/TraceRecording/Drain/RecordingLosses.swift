/// What a log lacks, as its file header tells it.
struct RecordingLosses {
    var unplacedCalls: UInt64
    var unwrittenCalls: UInt64
    var leftOutCalls: UInt64
    var spoiledChunks: UInt64
    /// The program had written over what counts them: more may be missing.
    var isSpoiled: Bool
}
