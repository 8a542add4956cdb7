internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery

/// A picture as the page reads it: numbers in arrays, little endian, each array at a multiple of 8 bytes.
///
/// First come 'FATP', the version, the number of tracks and that of the functions that have names so far (UInt32 each), and the
/// stretch of time (Float64, ns). Each track has: its index, the number of entries and of rows, and 1 where more could be told
/// (UInt32); where each row begins among the entries, and where the last one ends (UInt32); of each entry when it begins
/// (Float64, ns), how long it is and for how long of that calls were open (Float32, ns), its function and how many calls it has
/// (UInt32); and of each pixel which part of it the thread was blocked, and which it wanted a CPU (UInt8, 255 for all).
struct PictureBytes {
    private var bytes: [UInt8] = []

    /// - Parameter isPreliminary: whether a coarse picture becomes finer once summaries are made.
    static func of(_ pictures: PictureQuery, _ request: PictureRequest, isPreliminary: Bool) -> [UInt8] {
        let (from, to) = (request.time.lowerBound, request.time.upperBound)
        let step = max(1, (to - from) / UInt64(request.width))
        let rows = UInt32(request.rows.lowerBound)..<UInt32(request.rows.upperBound)
        let tracks = request.tracks.map { pictures.picture(ofThread: $0, from: from, to: to, step: step, rows: rows) }
        var writer = PictureBytes()
        writer.add([0x5054_4146, 1, UInt32(tracks.count), UInt32(pictures.query.functions.functions.count)])
        writer.add([Double(from), Double(to)])
        for (index, picture) in zip(request.tracks, tracks) {
            let entries = picture.entries
            // Rows behind the last one that has something are left out.
            let rowCount = picture.rows.firstIndex(of: entries.count) ?? 0
            writer.add([
                UInt32(index), UInt32(entries.count), UInt32(rowCount), picture.isCoarse && isPreliminary ? 1 : 0,
            ])
            writer.add(picture.rows.prefix(rowCount + 1).map(UInt32.init))
            writer.add(entries.map { Double($0.begin) })
            writer.add(entries.map { Float($0.end - $0.begin) })
            writer.add(entries.map { Float($0.busy) })
            writer.add(entries.map(\.function))
            writer.add(entries.map(\.calls))
            // What takes long to find out is not waited for while there is only a first picture.
            let thread = pictures.threads[index], isKnown = !isPreliminary || thread.knowsOffCPU
            writer.addWaits(of: isKnown ? thread : nil, from, to, request.width)
        }
        return writer.bytes
    }

    private mutating func add<Number: BitwiseCopyable>(_ numbers: [Number]) {
        numbers.withUnsafeBytes { bytes.append(contentsOf: $0) }
        while bytes.count % 8 != 0 { bytes.append(0) }
    }

    private mutating func addWaits(of thread: TracedThread?, _ from: UInt64, _ to: UInt64, _ width: Int) {
        let nothing = [UInt8](repeating: 0, count: width)
        let (blocked, wanting) = thread.flatMap { PictureBytes.waits(of: $0, from, to, width) } ?? (nothing, nothing)
        add(blocked)
        add(wanting)
    }

    /// Of each of `width` parts of a stretch, for how much of it a thread was blocked, and wanted a CPU, 255 for all; nil where that is
    /// not known.
    static func waits(
        of thread: TracedThread, _ from: UInt64, _ to: UInt64, _ width: Int
    ) -> (blocked: [UInt8], wanting: [UInt8])? {
        guard let offCPU = thread.offCPU() else { return nil }
        var blocked = [UInt8](repeating: 0, count: width), wanting = blocked
        func moment(_ pixel: Int) -> UInt64 { from + UInt64(Double(to - from) * Double(pixel) / Double(width)) }
        for pixel in 0..<width {
            let (begin, end) = (moment(pixel), moment(pixel + 1))
            let times = offCPU.times(from: begin, to: end), length = max(end - begin, 1)
            blocked[pixel] = UInt8(min(times.blocked * 255 / length, 255))
            wanting[pixel] = UInt8(min(times.runnable * 255 / length, 255))
        }
        return (blocked, wanting)
    }
}
