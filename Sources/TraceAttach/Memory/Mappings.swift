internal import TraceFile

/// What a process has mapped.
struct Mappings {
    struct Region {
        var range: Range<UInt64>
        var isExecutable: Bool
        var path: Substring
    }

    let regions: [Region]

    init(of pid: Int32) {
        regions = SystemFile.lines(of: "/proc/\(pid)/maps").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count >= 2 else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
            return Region(
                range: bounds[0]..<bounds[1], isExecutable: fields[1].contains("x"),
                path: fields.count > 5 ? fields[5].drop { $0 == " " } : "")
        }
    }

    /// O(log n).
    func region(at address: UInt64) -> Region? {
        var low = 0, high = regions.count
        while low < high {
            let middle = (low + high) / 2
            if regions[middle].range.upperBound <= address { low = middle + 1 } else { high = middle }
        }
        return low < regions.count && regions[low].range.contains(address) ? regions[low] : nil
    }
}
