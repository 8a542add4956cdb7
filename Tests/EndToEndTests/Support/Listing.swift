internal import Foundation
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

    /// The lines of a report as CSV, each as its fields by the names of their columns.
    static func table(_ arguments: [String]) throws -> [[String: String]] {
        let lines = try Fathom.run(arguments).stdout.split(separator: "\n").map(csvFields)
        let header = try #require(lines.first)
        return lines.dropFirst().map { Dictionary(zip(header, $0), uniquingKeysWith: { first, _ in first }) }
    }

    /// Calls by function of the tree, call by call.
    static func treeCounts(_ session: String) throws -> [String: Int] {
        let text = try Fathom.run(["tree", session, "--no-fold", "--format", "json"]).stdout
        var rest = [try JSONSerialization.jsonObject(with: Data(text.utf8))]
        var counts: [String: Int] = [:]
        while let node = rest.popLast() as? [String: Any] {
            if let name = node["name"] as? String, let calls = node["calls"] as? Int {
                counts[name, default: 0] += calls
            }
            for key in ["processes", "threads", "roots", "children"] { rest += node[key] as? [Any] ?? [] }
        }
        return counts
    }
}
