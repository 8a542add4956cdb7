internal import Foundation
import TestSupport
import Testing

/// `record --faults`: which calls have page faults, by counts that the program makes itself.
@Suite struct FaultTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("faults.fathom") }

    init() throws { directory = try TemporaryDirectory("page-faults") }

    private func json(_ arguments: [String]) throws -> [String: Any] {
        let output = try Fathom.run(arguments + ["--format", "json", session])
        #expect(output.status == 0, "\(output.stderr)")
        return try #require(JSONSerialization.jsonObject(with: Data(output.stdout.utf8)) as? [String: Any])
    }

    /// Records the program. Returns the page faults that it counted, by function.
    private func record(_ build: Build, _ options: [String]) throws -> [String: Int] {
        let binary = try Binaries.instrumented("faults.c", build)
        let output = try Fathom.record([binary], into: session, options: ["--quiet"] + options)
        #expect(output.status == 0, "\(output.stderr)")
        return try output.numbers()
    }

    /// Few faults are not of the pages that the program means to use: of its stack, of the code that it runs first.
    private func isNear(_ found: Int, _ expected: Int) -> Bool { abs(found - expected) <= 12 }

    @Test(
        .enabled(if: Privilege.seesFaults, "the kernel tells nobody like us of page faults"),
        arguments: [Build.gccO2, .clangO0], [false, true])
    func theProgramsOwnCount(_ build: Build, withWaits: Bool) throws {
        let counted = try record(build, ["--faults", "--memory"] + (withWaits ? ["--blocked"] : []))
        let touched = try #require(counted["touch"]), inBoth = try #require(counted["both"])
        #expect(isNear(touched, 2000) && isNear(inBoth, 300))
        let told = try #require(try json(["info"])["faults"] as? [String: Any])
        #expect(told["lost"] as? Int == 0 && told["refused"] is NSNull)
        #expect(try #require(told["told"] as? Int) > 3500)
        let rows = try #require(try json(["report"])["functions"] as? [[String: Any]])
        // A child has only copied what both use of main, and a thread's pages are those of its function.
        let expected: [(name: String, all: Int, own: Int)] = [
            ("touch", touched + 300, touched + 300), ("both", inBoth + 300, inBoth + 100), ("leaf", 200, 200),
            ("again", 0, 0), ("inside", 100, 100), ("resume", 16, 16), ("worker", 300, 0), ("in_child", 400, 400),
        ]
        for (name, all, own) in expected {
            let row = try #require(rows.first { $0["name"] as? String == name }, "\(name)")
            let found = try #require(row["minor_faults"] as? Int),
                ownFound = try #require(row["own_minor_faults"] as? Int)
            #expect(isNear(found, all) && isNear(ownFound, own), "\(name): \(found), \(ownFound) of them its own")
            #expect(row["major_faults"] is Int && row["own_major_faults"] is Int)
        }
        try checkTree(touched)
    }

    /// Each call has its own faults and allocations, with its callees.
    private func checkTree(_ touched: Int) throws {
        let processes = try #require(try json(["tree", "--no-fold"])["processes"] as? [[String: Any]])
        let thread = try #require((processes.first?["threads"] as? [[String: Any]])?.first)
        let main = try #require((thread["roots"] as? [[String: Any]])?.first)
        let calls = try #require(main["children"] as? [[String: Any]])
        let touches = calls.filter { $0["name"] as? String == "touch" }.compactMap { $0["minor_faults"] as? Int }
        #expect(touches.count == 3 && isNear(touches[0], 0), "\(touches)")
        for call in touches.dropFirst() { #expect(isNear(call, touched / 2), "\(touches)") }
        // Three calls within each other allocate ten blocks of 100 bytes each.
        var call = try #require(calls.last { $0["name"] as? String == "allocate" })
        for depth in 0..<3 {
            #expect(call["allocations"] as? Int == 30 - 10 * depth && call["major_faults"] is Int)
            #expect(call["allocated_bytes"] as? Int == 3000 - 1000 * depth)
            if depth < 2 { call = try #require((call["children"] as? [[String: Any]])?.first) }
        }
    }

    @Test(.enabled(if: Privilege.seesFaults, "the kernel tells nobody like us of page faults"))
    func views() throws {
        _ = try record(.gccO2, ["--faults", "--no-blocked"])
        let sorted = try Fathom.run(["report", "--sort", "own_minor", session])
        let lines = sorted.stdout.split(separator: "\n")
        #expect(lines.first?.contains("minor own_minor     major own_major") ?? false, "\(sorted.stdout)")
        #expect(lines.dropFirst().first?.contains(" touch ") ?? false, "\(sorted.stdout)")
        #expect(!(lines.first?.contains("allocs") ?? true))
        let tree = try Fathom.run(["tree", "--faults", "minor", session])
        #expect(tree.stdout.contains("self      minor  call"), "\(tree.stdout)")
        #expect(try !Fathom.run(["tree", session]).stdout.contains("minor"))
        let page = directory.file("flame.html"), picture = directory.file("flame.svg")
        for file in [page, picture] {
            let flame = try Fathom.run(["flame", "--faults", "minor", "-o", file, session])
            #expect(flame.status == 0, "\(flame.stderr)")
        }
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("\"faults\":true"))
        #expect(try String(contentsOfFile: picture, encoding: .utf8).contains(" faults ("))
        #expect(try Fathom.run(["info", session]).stdout.contains("told by the kernel"))
    }

    /// Where the kernel is not allowed to tell, the program is recorded all the same, and one line says why there are no faults.
    @Test func withoutPerf() throws {
        let binary = try Binaries.instrumented("faults.c", .gccO2)
        let output = try run(
            try RecordedWaits.withoutPerf(),
            [Fathom.executable, "record", "--faults", "-o", session, "--", binary])
        #expect(output.status == 0)
        let lines = output.stderr.split(separator: "\n").filter { $0.contains("page faults") }
        #expect(lines.count == 1 && lines[0].contains("warning: page faults are not known"), "\(output.stderr)")
        let row = try #require((try json(["report"])["functions"] as? [[String: Any]])?.first)
        #expect(row["minor_faults"] == nil)
        for arguments in [
            ["report", "--sort", "major", session], ["tree", "--faults", "all", session],
            ["flame", "--faults", "minor", "-o", "x.svg", session],
        ] {
            let refused = try Fathom.run(arguments, workingDirectory: directory.path)
            #expect(refused.status == 1 && refused.stderr.contains("does not tell of page faults: "), "\(refused)")
        }
        #expect(try Fathom.run(["info", session]).stdout.contains("not known, because the kernel does not tell"))
    }

    @Test func refusals() throws {
        let binary = try Binaries.instrumented("faults.c", .gccO2)
        let profile = try Fathom.run(["record", "--faults", "--mode", "profile", "--", binary])
        #expect(profile.status == 64 && profile.stderr.contains("--faults is for --mode trace"))
        _ = try record(.gccO2, [])
        let report = try Fathom.run(["report", "--sort", "minor", session])
        #expect(report.status == 1 && report.stderr.contains("fathom record --faults records them"))
        let tree = try Fathom.run(["tree", "--memory", "bytes", session])
        #expect(tree.status == 1 && tree.stderr.contains("fathom record --memory records it"))
    }
}
