import TestSupport
import Testing

/// What `fathom` lists, read.
enum Listing {
    /// Calls by name of a report as CSV.
    static func rows(_ arguments: [String]) throws -> [String: Int] {
        let report = try Fathom.run(arguments)
        try #require(report.status == 0, Comment(rawValue: report.stderr))
        let lines = report.stdout.split(separator: "\n").map(csvFields)
        let header = try #require(lines.first)
        let name = try #require(header.firstIndex(of: "name"))
        let calls = try #require(header.firstIndex(of: "calls"))
        var rows: [String: Int] = [:]
        for line in lines.dropFirst() { rows[try line.at(name), default: 0] += Int(try line.at(calls)) ?? 0 }
        return rows
    }

    /// Calls by function of the tree, line by line.
    static func treeCounts(_ session: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in try Fathom.run(["tree", session, "--no-fold"]).stdout.split(separator: "\n") {
            var words = line.split(separator: " ")
            // depth, total and its unit, self and its unit, name; of a call that waited, "(12.3 ms suspended)"
            guard words.count > 5, Int(words[0]) != nil else { continue }
            if words.last == "suspended)" { words.removeLast(3) }
            counts[words[5...].joined(separator: " "), default: 0] += 1
        }
        return counts
    }
}
