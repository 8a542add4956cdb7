import Foundation
import TestSupport
import Testing

/// Apache Otava (https://otava.apache.org), which ``ChangeDetector`` is compared with.
enum Otava {
    /// The package of PyPI whose figures are below.
    static let version = "0.8.0"

    /// What Otava finds of the steps of the first 60 ``StepSeries`` of each group, at most two runs off.
    static let found: [StepSeries.Group: Int] = [
        .one: 60, .two: 105, .three: 164, .four: 195, .thereAndBack: 98, .ends: 50, .outliers: 11, .drift: 27,
        .twoStates: 27,
        .none: 0,
    ]

    /// The changes that Otava finds in each series; nil where there is no Python that has it.
    static func changes(_ series: [[Double]]) throws -> [[Int]]? {
        guard FileManager.default.isExecutableFile(atPath: python) else { return nil }
        let directory = try TemporaryDirectory("otava")
        let text = series.map { $0.map { "\($0)" }.joined(separator: ",") }.joined(separator: "\n")
        let path = try directory.write(text, to: "series")
        let output = try run(python, ["-c", script, path], seconds: 300)
        guard output.status == 0 else { return nil }
        return output.stdout.split(separator: "\n", omittingEmptySubsequences: false).prefix(series.count).map { line in
            line.split(separator: " ").compactMap { Int($0) }
        }
    }

    private static let python =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/.build/consumers/python/bin/python"

    private static let script = """
        import sys
        from otava.analysis import compute_change_points
        for line in open(sys.argv[1]):
            print(*[point.index for point in compute_change_points([float(x) for x in line.split(",")])[0]])
        """

    /// Numbers of a run each of TigerBeetle's benchmark, of which Otava's tests have more
    /// (https://github.com/apache/otava, `tests/deterministic_tigerbeetle_test.py`, Apache License 2.0).
    static let tigerBeetle: [Double] = [
        26705, 26475, 26641, 26806, 26835, 26911, 26564, 26812, 26874, 26682, 15672, 26745, 26460, 26977,
        26851, 23412, 23547, 23674, 23519, 23670, 23662, 23462, 23750, 23717, 23524, 23588, 23687, 23793,
        23937, 23715, 23570, 23730, 23690, 23699, 23670, 23860, 23988, 23652, 23681, 23798, 23728, 23604,
        23523, 23412, 23685, 23773, 23771, 23718, 23409, 23739, 23674, 23597, 23682, 23680, 23711, 23660,
        23990, 23938, 23742, 23703, 23536, 24363, 24414, 24483, 24509, 24944, 24235, 24560, 24236, 24667,
        24730, 28346, 28437, 28436, 28057, 28217, 28456, 28427, 28398, 28250, 28331, 28222, 28726, 28578,
        28345, 28274, 28514, 28590, 28449, 28305, 28411, 28788, 28404, 28821, 28580, 27483, 26805, 27487,
        27124, 26898, 27295, 26951, 27312, 27660, 27154, 27050, 26989, 27193, 27503, 27326,
    ]
}
