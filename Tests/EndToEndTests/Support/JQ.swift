import TestSupport
import Testing

/// What jq makes of a document.
///
/// - Parameter isRaw: texts are without their quotes.
func jq(_ filter: String, of document: String, isRaw: Bool = false) throws -> String {
    let found = try run("jq", [isRaw ? "-cr" : "-c", filter], input: document)
    try #require(found.status == 0, "\(found.stderr) \(document.prefix(500))")
    return String(found.stdout.dropLast())
}

/// What jq makes of the JSON that a command of Fathom's answers.
func jq(_ filter: String, _ arguments: [String]) throws -> String {
    let told = try Fathom.run(arguments + ["--format", "json"])
    try #require(told.status == 0, "\(told.stderr)")
    return try jq(filter, of: told.stdout)
}

/// JSON as jq writes it, of what a page writes.
func compact(_ json: String) -> String { json.replacing(", ", with: ",") }
