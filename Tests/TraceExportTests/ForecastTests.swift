import TestSupport
import Testing
import TraceAnalysis

@testable import TraceExport

/// What a file is going to hold is known before it is written.
@Suite struct ForecastTests {
    /// main calls a function of each name `rounds` times; each call takes as long as `times` says.
    private func calls(_ names: [String], rounds: Int, times: [UInt64] = [700]) throws -> ExportFixture {
        try ExportFixture(["main"] + names) { records in
            var now: UInt64 = 1_000_000
            records.enter(ExportFixture.address(0), at: now)
            for round in 0..<rounds {
                for (number, _) in names.enumerated() {
                    records.enter(ExportFixture.address(number + 1), at: now + 300)
                    now += 300 + times[round % times.count]
                    records.exit(at: now)
                }
            }
            records.exit(at: now + 100)
        }
    }

    private static let names = [
        ["f", "parse"], [String(repeating: "long", count: 300)],
        ["std::map<int, größe>::operator[]", "Box<double>::get"],
    ]

    @Test(arguments: [ExportFormat.perfetto, .speedscope, .chrome, .firefox], names)
    func sizesAreTrueToAFifth(_ format: ExportFormat, _ names: [String]) throws {
        let fixture = try calls(names, rounds: 4000)
        let forecast = try #require(ExportForecast(format, of: fixture.source()))
        let (bytes, summary) = fixture.export(format)
        #expect(forecast.calls == summary.written)
        let ratio = Double(forecast.bytes) / Double(bytes.count)
        #expect(abs(ratio - 1) < 0.2, "\(forecast.bytes) for \(bytes.count)")
    }

    @Test func pathsAndTablesHaveNoLimit() throws {
        let source = try calls(["f"], rounds: 1).source()
        for format in ExportFormat.allCases where !format.hasLimit {
            #expect(ExportForecast(format, of: source) == nil)
        }
    }

    private static func limit(calls: UInt64, bytes: UInt64) -> ViewerLimit {
        ViewerLimit(viewer: "a viewer", depth: 10, calls: calls, bytes: bytes, callBytes: 100, namesPerCall: 2)
    }

    @Test func tooManyCallsNameTheFilterThatFits() throws {
        let source = try calls(["f"], rounds: 8, times: [0, 9, 10, 19, 20, 21, 700, 1_999_999]).source()
        let forecast = ExportForecast(ForecastTests.limit(calls: 5, bytes: 1 << 30), of: source)
        #expect(
            forecast.warnings(canSplit: false) == [
                "the file has 9 calls and about 0 MB: a viewer takes about 5 calls and 1074 MB; "
                    + "--min-cost 20ns leaves 5 and 0 MB"
            ])
        #expect(forecast.warnings(canSplit: true).first?.hasSuffix("; --split writes several files") == true)
        #expect(forecast.callsThatFit == 5)
    }

    @Test func tooManyBytesAreToldWhereCallsAreFew() throws {
        let source = try calls([String(repeating: "x", count: 9_900)], rounds: 200, times: [50, 2000]).source()
        let forecast = ExportForecast(ForecastTests.limit(calls: 1000, bytes: 3_000_000), of: source)
        #expect(
            forecast.warnings(canSplit: false) == [
                "the file has 201 calls and about 4 MB: a viewer takes about 1000 calls and 3 MB; "
                    + "--min-cost 100ns leaves 101 and 2 MB; --format perfetto has each name once"
            ])
        #expect((140...155).contains(forecast.callsThatFit))
    }

    @Test(arguments: [
        ("x.chrome.json", ExportFormat.chrome, ".trace.json"), ("x.chrome.json.gz", .chrome, ".trace.json"),
        ("x.speedscope.json", .chrome, ".trace.json"),
        ("x.chrome.json", .speedscope, ".speedscope.json"), ("a/x.cpuprofile", .speedscope, ".speedscope.json"),
    ])
    func namesThatMislead(_ name: String, _ format: ExportFormat, _ better: String) {
        #expect(format.misleadingName(name)?.hasSuffix("end the name in \(better)") == true)
    }

    @Test(arguments: [
        ("x.json", ExportFormat.chrome), ("x.trace.json", .chrome), ("x.speedscope.json", .speedscope),
        ("x.chrome.json", .perfetto),
    ])
    func namesThatDoNot(_ name: String, _ format: ExportFormat) {
        #expect(format.misleadingName(name) == nil)
    }
}
