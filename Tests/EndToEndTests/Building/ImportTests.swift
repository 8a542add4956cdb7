import TestSupport
import Testing

/// `Tools/check-layering` finds what would let the rooms of the source depend on each other in a circle.
@Suite struct ImportTests {
    private let directory: TemporaryDirectory

    /// A copy of the sources and of the tool that may be spoilt.
    init() throws {
        directory = try TemporaryDirectory("layering")
        try directory.makeDirectory("Tools")
        for name in ["Sources", "Tools/check-layering", "Package.swift"] {
            let copied = try run("cp", ["-r", "\(Binaries.repository)/\(name)", directory.file(name)])
            #expect(copied.status == 0, "\(copied.stderr)")
        }
    }

    /// What the tool complains of; nil when it is content.
    private func complaint() throws -> String? {
        let output = try run(directory.file("Tools/check-layering"))
        return output.status == 0 ? nil : output.stderr
    }

    @Test func theSourcesAreInLayers() throws {
        #expect(try complaint() == nil)
    }

    @Test(arguments: ["internal import ", "@testable import struct "])
    func importsAgainstTheFlowAreFound(_ words: String) throws {
        let planted = [
            ("TraceText", "TraceReports"), ("TraceFile", "TraceAnalysis"), ("TraceAnalysis", "TraceSymbols"),
            ("TraceQuery", "ArgumentParser"), ("TraceExport", "TraceReports"), ("TraceReports", "TraceQuery"),
        ]
        let name = words.hasSuffix("struct ") ? ".Thing" : ""
        for (target, imported) in planted {
            try directory.write("\(words)\(imported)\(name)\n", to: "Sources/\(target)/Planted.swift")
        }
        let complaint = try #require(try complaint())
        for (target, imported) in planted {
            let expected = "\(target) imports \(imported): Sources/\(target)/Planted.swift"
            #expect(complaint.contains(expected), "\(complaint)")
        }
    }

    @Test func headersOfOtherTargetsAreFound() throws {
        let planted = [
            ("CTraceFormat", "\"CTraceRuntime.h\"", "CTraceRuntime/include/CTraceRuntime.h"),
            ("CFathom", "<CTraceFormat.h>", "CTraceFormat/include/CTraceFormat.h"),
            ("CThreadStop", "\"CTraceFormat.h\"", "CTraceFormat/include/CTraceFormat.h"),
            ("CTraceSwiftHooks", "\"CTraceRuntime.h\"", "CTraceRuntime/include/CTraceRuntime.h"),
            ("CTraceRuntimeImage", "\"../CTraceRuntime/follow/thread.h\"", "CTraceRuntime/follow/thread.h"),
            ("CTraceRuntimeStatic", "\"CTracePerf.h\"", "CTraceFormat/include/CTracePerf.h"),
            ("CTraceSleds", "\"nowhere.h\"", "nowhere.h"),
        ]
        for (target, header, _) in planted {
            try directory.write("#include \(header)\n", to: "Sources/\(target)/planted.c")
        }
        let complaint = try #require(try complaint())
        for (target, _, found) in planted {
            #expect(complaint.contains("Sources/\(target)/planted.c includes \(found)\n"), "\(complaint)")
        }
    }

    @Test func headersThatGoRoundAreFound() throws {
        try directory.write("#include \"CPlanted.h\"\n", to: "Sources/CThreadStop/include/CGrafted.h")
        try directory.write("#include \"CGrafted.h\"\n", to: "Sources/CThreadStop/include/CPlanted.h")
        let complaint = try #require(try complaint())
        #expect(
            complaint.contains(
                "a circle of files that include each other: CThreadStop/include/CGrafted.h CThreadStop/include/CPlanted.h"
            ),
            "\(complaint)")
    }

    @Test func onlyTheCommandLineMayPrint() throws {
        try directory.write("func say() { print(1) }\n", to: "Sources/TraceQuery/Planted.swift")
        #expect(try complaint()?.contains("Sources/TraceQuery/Planted.swift calls print") == true)
    }

    /// Rules are what Package.swift says, however it is laid out.
    @Test(arguments: [
        ".target(name: \"TraceNew\", dependencies: [\"TraceText\"]),",
        ".target(\n    // of \"TraceFile\"\n    name: \"New\",\n    dependencies: [\n        // \"TraceFile\",\n"
            + "        .product(name: \"Thing\", package: \"thing\"), .target(name: \"TraceText\"),\n    ],\n"
            + "    path: \"Sources/TraceNew\", swiftSettings: strict),",
    ])
    func aNewTarget(_ declaration: String) throws {
        try change("targets: [\n", to: "targets: [\n\(declaration)\n")
        try directory.makeDirectory("Sources/TraceNew")
        try directory.write("internal import TraceText\nimport Glibc\n", to: "Sources/TraceNew/Planted.swift")
        #expect(try complaint() == nil)
        try directory.write("internal import TraceFile\n", to: "Sources/TraceNew/Planted.swift")
        let complaint = try #require(try complaint())
        #expect(complaint.contains("TraceNew imports TraceFile: Sources/TraceNew/Planted.swift"), "\(complaint)")
    }

    private func change(_ text: String, to other: String) throws {
        let package = directory.file("Package.swift")
        let old = String(decoding: try readFile(package), as: UTF8.self)
        let changed = old.replacing(text, with: other, maxReplacements: 1)
        try #require(changed != old)
        try writeFile(Array(changed.utf8), to: package)
    }

    /// What calls add up to is found out by TraceQuery, and whoever shows it is handed it.
    @Test func whoeverShowsSumsMakesNone() throws {
        let targets = ["fathom", "TraceReports", "TraceExport"]
        let text = """
            let a = Waits(of: b)
            let c = FooWaits(1), d = e.waits(2)  // CallTree(of: f)
            /// Aggregation(of: g)
            let h = TraceAnalysis.CallTree(of: i)
            return Aggregation(of: j)

            """
        for target in targets + ["TraceQuery"] { try directory.write(text, to: "Sources/\(target)/Planted.swift") }
        let found = try #require(try complaint()).split(separator: "\n").filter { $0.contains("Planted.swift") }
        #expect(
            Set(found.map(String.init))
                == Set(
                    targets.flatMap { target in
                        ["1 makes Waits", "4 makes CallTree", "5 makes Aggregation"].map {
                            "check-layering: only TraceQuery makes what calls add up to: Sources/\(target)/Planted.swift:\($0)"
                        }
                    }))
    }

    /// A rule that would allow a circle is no rule.
    @Test func rulesThatGoRoundAreFound() throws {
        try change(".target(name: \"TraceText\",", to: ".target(name: \"TraceText\", dependencies: [\"TraceReports\"],")
        let complaint = try #require(try complaint())
        #expect(complaint.contains("the rules go round"), "\(complaint)")
        #expect(complaint.contains("TraceText") && complaint.contains("TraceReports"), "\(complaint)")
    }

    @Test func aTargetWithoutARuleIsFound() throws {
        try directory.makeDirectory("Sources/TraceNew")
        try directory.write("\n", to: "Sources/TraceNew/Planted.swift")
        #expect(try complaint()?.contains("Sources/TraceNew is no target of Package.swift") == true)
    }
}
