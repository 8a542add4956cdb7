/// Numbers functions in the order in which they are first seen, for formats with a table of frames.
struct FrameNumbers {
    /// Function ids by frame number.
    private(set) var functions: [UInt32] = []
    /// Frame numbers by function id, -1 for none yet.
    private var frames: [Int32] = []

    /// The frame number of a function, a new one the first time. O(1), amortized.
    mutating func frame(of function: UInt32) -> Int32 {
        let index = Int(function)
        if index >= frames.count { frames += Array(repeating: -1, count: index + 1 - frames.count) }
        if frames[index] < 0 {
            frames[index] = Int32(functions.count)
            functions.append(function)
        }
        return frames[index]
    }
}
