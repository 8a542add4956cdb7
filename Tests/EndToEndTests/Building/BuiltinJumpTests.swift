internal import Foundation
import TestSupport
import Testing

/// Jumps that compilers make themselves, by `__builtin_longjmp`: the build tells the runtime of them.
@Suite struct BuiltinJumpTests {
    @Test(
        arguments: [
            "gcc -O0", "gcc -O2", "gcc -O2 -fcf-protection=full", "gcc -std=c99 -pedantic-errors -Werror", "clang -O0",
            "clang -O2", "g++ -O2 -x c++", "clang++ -O2 -x c++",
        ], [[], ["--dormant"]])
    func whatComesAfterAJump(_ compiler: String, _ options: [String]) throws {
        let directory = try TemporaryDirectory("jumps")
        let program = directory.file("jumps"), session = directory.file("session.fathom")
        let built = try Fathom.run(
            ["build"] + options + ["--"] + compiler.split(separator: " ").map(String.init) + [
                "-g", "-o", program, "\(Binaries.sources)/builtin_jumps.c",
            ], environment: ["XDG_CACHE_HOME": directory.file("cache")])
        try #require(built.status == 0, "\(built.stderr)")
        #expect(try run(program, []).stdout == "done\n")
        let recorded = try Fathom.record([program], into: session)
        #expect(recorded.status == 0 && recorded.stdout == "done\n", "\(recorded.stderr)")
        let report = try Fathom.run(["report", "--by", "path", "--format", "json", "--limit", "0", session]).stdout
        let json = try #require(JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any])
        let rows = try #require(json.values.compactMap { $0 as? [[String: Any]] }.first)
        var calls: [String: Int] = [:]
        for row in rows {
            let path = try #require(row["path"] as? [String]).map { String($0.prefix { $0 != "(" }) }
            guard let last = path.last, last.hasPrefix("after") || last.hasPrefix("guards") else { continue }
            calls[path.joined(separator: " ")] = row["calls"] as? Int
        }
        #expect(
            calls == [
                "main guards_outer": 40, "main guards_outer guards_inner": 80,
                "main guards_outer guards_inner after_inner": 120, "main guards_outer after_outer": 80,
            ], "\(calls)")
    }
}
