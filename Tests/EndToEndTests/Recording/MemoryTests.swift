internal import Foundation
import TestSupport
import Testing

/// `record --memory`: what each function allocates, and what of it is live at the end.
@Suite struct MemoryTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("memory.fathom") }

    init() throws { directory = try TemporaryDirectory("memory") }

    private struct Sums: Equatable, CustomStringConvertible {
        var allocations = 0
        var bytes = 0
        var liveBlocks = 0
        var live = 0

        var description: String { "\(allocations) \(bytes) \(liveBlocks) \(live)" }
    }

    private func rows(_ arguments: [String] = []) throws -> [[String: Any]] {
        let report = try Fathom.run(["report", "--format", "json", "--limit", "0"] + arguments + [session])
        #expect(report.status == 0, "\(report.stderr)")
        let json = try #require(
            JSONSerialization.jsonObject(with: Data(report.stdout.utf8)) as? [String: Any])
        return try #require(json.values.compactMap { $0 as? [[String: Any]] }.first)
    }

    private func sums(_ row: [String: Any]) throws -> Sums {
        func number(_ name: String) throws -> Int { try #require(row[name] as? Int, "\(name)") }
        return try Sums(
            allocations: number("allocations"), bytes: number("allocated_bytes"), liveBlocks: number("live_blocks"),
            live: number("live_bytes"))
    }

    /// Every function that allocates, as the program itself logs it: resized blocks, pages, blocks that another thread frees, one
    /// without calls among them, and a child's.
    @Test(arguments: [Build.gccO2, .clangO0], [false, true])
    func theProgramsOwnLog(_ build: Build, isCXX: Bool) throws {
        let binary = try Binaries.instrumented(
            isCXX ? "memory.cpp" : "memory.c", build, flags: isCXX ? ["-std=c++17"] : [], variant: isCXX ? "-cxx" : "")
        let output = try Fathom.record([binary], into: session, options: ["--quiet", "--memory"])
        #expect(output.status == 0 && output.stderr.isEmpty, "\(output.stderr)")
        var expected: [String: Sums] = [:]
        for line in output.stdout.split(separator: "\n") {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            try #require(numbers.count == 4, "\(line)")
            expected[String(words[0])] = Sums(
                allocations: numbers[0], bytes: numbers[1], liveBlocks: numbers[2], live: numbers[3])
        }
        #expect(expected.count == (isCXX ? 10 : 9))
        var found: [String: Sums] = [:]
        for row in try rows() {
            let name = try #require(row["name"] as? String).prefix { $0 != "(" }
            let sums = try sums(row)
            if sums.allocations > 0 { found[String(name)] = sums }
        }
        for (name, sums) in expected { #expect(found[name] == sums, "\(name)") }
        // main has what they all have, and that of the streams.
        let below = expected.filter { $0.key != "worker" }.values
        let whole = try #require(found["main"])
        #expect(whole.bytes >= below.reduce(0) { $0 + $1.bytes } && whole.live >= below.reduce(0) { $0 + $1.live })
        let paths = try rows(["--by", "path"])
        let path = try #require(paths.first { ($0["path"] as? [String])?.last?.hasPrefix("by_realloc") ?? false })
        #expect(path["own_allocated_bytes"] as? Int == expected["by_realloc"]?.bytes)
    }

    private enum Linking: String, CaseIterable { case preloaded, lazy, now }

    /// Allocators in libraries, whose `new` calls no `malloc`, and which map what they give out. Without one, the C library's.
    @Test(
        arguments: ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2", "libc.so.6"],
        Linking.allCases)
    private func otherAllocators(_ library: String, _ linking: Linking) throws {
        let other = try Toolchain.compile(
            sources: ["other.cpp": "void *by_other(unsigned long size) { return ::operator new(size); }"],
            compiler: .gxx, flags: ["-O1", "-shared", "-fPIC", "-g"], output: directory.file("libother.so"))
        let binary = try Binaries.instrumented(
            "operators.cpp", .gccO2,
            flags: ["-std=c++17", linking == .now ? "-Wl,-z,now,-z,relro" : "-Wl,-z,lazy"],
            libraries: [other, "-Wl,--no-as-needed"] + (linking == .preloaded ? [] : ["-l:\(library)"]),
            variant: "-\(library)-\(linking)")
        let preloaded = linking == .preloaded && library != "libc.so.6" ? ["LD_PRELOAD": library] : [:]
        let output = try Fathom.record(
            [binary], into: session, options: ["--quiet", "--memory"],
            environment: preloaded.merging(["LD_LIBRARY_PATH": directory.path]) { $1 })
        #expect(output.status == 0 && output.stdout == "done\n", "\(output)")
        var found: [String: Int] = [:]
        for row in try rows() {
            let name = try #require(row["name"] as? String).prefix { $0 != "(" }
            let sums = try sums(row)
            if name.hasPrefix("by_") {
                found[String(name)] = sums.bytes
                #expect(sums.live == (name == "by_kept" ? 700 : 0), "\(name): \(sums)")
            }
        }
        #expect(
            found == [
                "by_new": 100, "by_array": 200, "by_nothrow": 300, "by_aligned": 4096, "by_pointer": 500,
                "by_library": 600, "by_kept": 700, "by_string": 801, "by_malloc": 900_000, "by_others": 5000,
            ], "\(found)")
    }

    @Test func views() throws {
        let binary = try Binaries.instrumented("memory.c", .gccO2)
        _ = try Fathom.record([binary], into: session, options: ["--quiet", "--memory"])
        let sorted = try Fathom.run(["report", "--sort", "own_live", session])
        let lines = sorted.stdout.split(separator: "\n")
        #expect(lines.first?.contains("allocs     bytes own_bytes      live  own_live") ?? false, "\(sorted.stdout)")
        #expect(lines.dropFirst().first?.contains("by_mmap") ?? false, "\(sorted.stdout)")
        let page = directory.file("flame.html"), picture = directory.file("flame.svg")
        for file in [page, picture] {
            let flame = try Fathom.run(["flame", "--memory", "bytes", "-o", file, session])
            #expect(flame.status == 0, "\(flame.stderr)")
        }
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("\"bytes\":true"))
        #expect(try String(contentsOfFile: picture, encoding: .utf8).contains("2.5 MB"))
        let info = try Fathom.run(["info", session])
        #expect(info.stdout.contains("memory"), "\(info.stdout)")
    }

    /// Where the program's own functions allocate, nothing is known, and that is said.
    @Test func ownFunctions() throws {
        let binary = try Binaries.instrumented("own_malloc.c", .gccO2, flags: ["-fno-builtin"])
        let output = try Fathom.record([binary], into: session, options: ["--memory"])
        #expect(output.status == 0 && output.stdout == "own 1\n")
        #expect(output.stderr.contains("allocates memory by functions of its own"), "\(output.stderr)")
        #expect(try rows().allSatisfy { $0["allocations"] as? Int == 0 })
        let report = try Fathom.run(["report", session])
        #expect(report.stderr.contains("allocates memory by functions of its own"), "\(report.stderr)")
    }

    @Test func refusals() throws {
        let binary = try Binaries.instrumented("own_malloc.c", .gccO2, flags: ["-fno-builtin"])
        _ = try Fathom.record([binary], into: session)
        for arguments in [
            ["report", "--sort", "live", session], ["flame", "--memory", "live", "-o", "x.svg", session],
        ] {
            let output = try Fathom.run(arguments, workingDirectory: directory.path)
            #expect(output.status == 1, "\(output.stderr)")
            #expect(output.stderr.contains("fathom record --memory records it"), "\(output.stderr)")
        }
        let profile = try Fathom.run(["record", "--memory", "--mode", "profile", "--", binary])
        #expect(profile.status == 64 && profile.stderr.contains("--memory is for --mode trace"))
    }
}
