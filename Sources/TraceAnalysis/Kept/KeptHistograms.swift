/// Histograms of kept paths, each read when it is asked for. The histogram with number n begins at byte n - 1.
struct KeptHistograms: HistogramSource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var reader = KeptReader(bytes, at: min(Int(head) - 1, bytes.count))
            var bucket = 0
            for _ in 0..<reader.takeCount() {
                let step = reader.take()
                let count = step & 1 == 0 ? 1 : reader.take()
                guard step >> 1 < UInt64(Bucket.count - bucket), !reader.hasFailed else { return }
                bucket += Int(step >> 1)
                body(bucket, count)
            }
        }
    }
}
