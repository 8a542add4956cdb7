import TestSupport
import Testing

/// `fathom unused` lists the functions that were not called, as the compiler's own count tells them.
@Suite struct UnusedTests {
    /// Function by name, then column by heading.
    private func csv(_ arguments: [String]) throws -> [String: [String: String]] {
        let output = try Fathom.run(["unused", "--format", "csv"] + arguments)
        #expect(output.status == 0, "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let headings = try lines.at(0)
        var rows: [String: [String: String]] = [:]
        for line in lines.dropFirst() {
            #expect(line.count == headings.count)
            rows[try line.at(0)] = Dictionary(zip(headings, line)) { first, _ in first }
        }
        return rows
    }

    @Test(arguments: Build.all)
    func whatNoRunCalled(_ build: Build) throws {
        let binary = try Binaries.instrumented("unused.cpp", build)
        let directory = try TemporaryDirectory("unused")
        let sessions = [directory.file("once.fathom"), directory.file("twice.fathom")]
        #expect(try Fathom.record([binary], into: sessions[0]).status == 0)
        #expect(try Fathom.record([binary, "later"], into: sessions[1]).status == 0)

        let once = try csv([sessions[0]])
        let never = ["Shape::area", "Shape::border", "in_table", "in_code", "lonely", "next<long>", "only_by_lonely"]
        #expect(once.keys.sorted() == (never + ["later"]).sorted())
        func names(_ column: String) -> [String] { once.filter { $0.value[column] == "true" }.keys.sorted() }
        #expect(names("verify") == (never.prefix(4) + ["later"]).sorted())
        #expect(names("unreachable") == ["lonely", "only_by_lonely"])
        for row in once.values {
            #expect(Int(row["bytes"] ?? "") ?? 0 > 0 && Int(row["lines"] ?? "") ?? 0 > 0, "\(row)")
            #expect(row["file"]?.hasSuffix("unused.cpp") == true && row["runs"] == "0", "\(row)")
        }
        #expect(try csv(sessions).keys.sorted() == never.sorted())
        #expect(try csv(sessions + ["--seldom", "2"])["later"]?["runs"] == "1")

        let list = try Fathom.run(["unused", "--list", sessions[0]]).stdout.split(separator: "\n").map(String.init)
        // `next<long>` has no pattern that leaves `next<int>` its hooks.
        let expected = (never + ["later"]).filter { $0 != "next<long>" }
        #expect(list.filter { !$0.hasPrefix("#") }.sorted() == expected.sorted())
    }

    /// The functions that gcov has never seen are the ones that are listed.
    @Test(arguments: [0, 2])
    func equalsTheCompilersOwnCount(_ level: Int) throws {
        let directory = try TemporaryDirectory("unused")
        let binary = directory.file("unused")
        let compiled = try run(
            "g++",
            [
                "-g", "-O\(level)", "--coverage", "-finstrument-functions", "-o", binary,
                "\(Binaries.sources)/unused.cpp",
            ],
            workingDirectory: directory.path)
        #expect(compiled.status == 0, "\(compiled.stderr)")
        let session = directory.file("unused.fathom")
        #expect(try Fathom.record([binary, "later"], into: session).status == 0)
        let coverage = try run(
            "sh", ["-c", "gcov -t -m -b *.gcda | sed -n 's/^function //p'"], workingDirectory: directory.path)
        var (unseen, seen): (Set<String>, Set<String>) = ([], [])
        for line in coverage.stdout.split(separator: "\n") {
            let parts = line.split(separator: " called ")
            guard parts.count == 2, let name = parts[0].prefix(while: { $0 != "(" }).split(separator: " ").last else {
                continue
            }
            // Of a template's instance gcov shows the return type and the arguments, too.
            let isCalled = !parts[1].hasPrefix("0 ")
            if isCalled { seen.insert(String(name)) } else { unseen.insert(String(name)) }
        }
        #expect(seen.contains("main"), "\(coverage)")
        // The two destructors of a class are one function, which was called.
        #expect(Set(try csv([session]).keys) == unseen.subtracting(seen))
    }

    @Test func totalsAndWrongUse() throws {
        let binary = try Binaries.instrumented("unused.cpp", .gccO2)
        let directory = try TemporaryDirectory("unused")
        let session = directory.file("unused.fathom")
        #expect(try Fathom.record([binary], into: session, options: ["--quiet", "-D", "1"]).status == 0)
        let files = try Fathom.run(["unused", session, "--by", "file"])
        #expect(files.stdout.contains("unused.cpp\n") && files.stdout.contains("functions, "), "\(files.stdout)")
        #expect(files.stderr.contains("calls were left out of the recording"), "\(files.stderr)")
        let json = try Fathom.run(["unused", session, "--format", "json", "--module", "unused*"]).stdout
        #expect(json.contains("\"name\":\"lonely\",\"linkage_name\":\"_ZL6lonelyi\",\"module\":"), "\(json)")
        let other = try Fathom.run(["unused", session, "--module", "other"])
        #expect(other.status == 1 && other.stderr.contains("no module with hooks matches 'other'"), "\(other)")
        for wrong in [["--seldom", "0"], ["--seldom", "2"], ["--list", "--format", "json"], ["--limit", "-1"]] {
            let output = try Fathom.run(["unused", session] + wrong)
            #expect(output.status == 64 && output.stderr.contains("fathom: error: --"), "\(output)")
        }
    }
}
