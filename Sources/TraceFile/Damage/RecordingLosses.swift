/// What the recorder counts as missing, and writes into the log's header. A reader gets it as ``MissingCalls``.
package struct RecordingLosses {
    package var unplacedCalls: UInt64
    /// Of these, those for which no return place was free.
    package var unreturnedCalls: UInt64 = 0
    package var unwrittenCalls: UInt64
    package var leftOutCalls: UInt64
    package var spoiledChunks: UInt64
    /// Whether the program had written over these counts. Then more may be missing.
    package var isSpoiled: Bool
    /// Whether system calls were lost of which the kernel told.
    package var lacksSystemCalls = false

    package init(
        unplacedCalls: UInt64, unwrittenCalls: UInt64, leftOutCalls: UInt64, spoiledChunks: UInt64, isSpoiled: Bool
    ) {
        self.unplacedCalls = unplacedCalls
        self.unwrittenCalls = unwrittenCalls
        self.leftOutCalls = leftOutCalls
        self.spoiledChunks = spoiledChunks
        self.isSpoiled = isSpoiled
    }
}
