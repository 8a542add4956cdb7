internal import TraceText

/// Histograms of kept paths, each read when it is asked for. The histogram with number n begins at byte n - 1.
struct KeptHistograms: HistogramSource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes, at: min(Int(head) - 1, bytes.count))
            _ = reader.takeBuckets(body)
        }
    }
}
