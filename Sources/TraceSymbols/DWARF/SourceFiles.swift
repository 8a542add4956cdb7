/// Numbers source paths.
///
/// libdw hands out one C string for each file of a compile unit, so its address is looked up before its text.
struct SourceFiles {
    /// Stands for no file.
    static let none = UInt32.max

    private(set) var paths: [String] = []
    private var byPointer: [UnsafePointer<CChar>: UInt32] = [:]
    private var byPath: [String: UInt32] = [:]
    private var last: (pointer: UnsafePointer<CChar>?, index: UInt32) = (nil, none)

    /// The number of a path, which must stay where it is until ``finish()``.
    ///
    /// - Parameter directory: the directory that a relative path starts from. libdw gives relative paths for files that
    ///   were included by one, and where the compiler shortens paths.
    mutating func index(of pointer: UnsafePointer<CChar>?, in directory: String?) -> UInt32 {
        guard let pointer else { return Self.none }
        if pointer == last.pointer { return last.index }
        if let known = byPointer[pointer] {
            last = (pointer, known)
            return known
        }
        var path = String(cString: pointer)
        if !path.hasPrefix("/"), let directory {
            path = "\(directory)/\(path.hasPrefix("./") ? path.dropFirst(2) : path[...])"
        }
        let index = byPath[path] ?? UInt32(paths.count)
        if index == UInt32(paths.count) {
            paths.append(path)
            byPath[path] = index
        }
        byPointer[pointer] = index
        last = (pointer, index)
        return index
    }

    /// Frees what is needed only while paths are numbered.
    mutating func finish() {
        byPointer = [:]
        byPath = [:]
        last = (nil, Self.none)
    }
}
