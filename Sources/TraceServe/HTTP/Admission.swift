/// Who is answered: who knows the token, and comes from this machine's own page or from outside of all pages.
///
/// Whoever can make a browser ask this server is kept out by what browsers tell and pages cannot change: a page of another
/// origin by `Origin` and `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata), and one whose name was made to mean
/// 127.0.0.1 (DNS rebinding) by `Host`. Other users of this machine lack the token.
struct Admission: Sendable {
    let port: UInt16
    /// Random, of letters that mean nothing in addresses.
    let token: String

    /// The server's names, as `Host` has them.
    private var hosts: [String] {
        let names = ["127.0.0.1", "localhost"]
        return names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// The answer to a request that nothing else is told, whatever it asks for; nil where it is as requests are to be.
    func refusal(of request: Request) -> Reply? {
        let host = request.values(of: "host")
        guard host.count == 1, hosts.contains(host[0].lowercased()) else { return .empty(403) }
        guard ["GET", "HEAD"].contains(request.method) else {
            var reply = Reply.empty(405)
            reply.further = [("Allow", "GET, HEAD")]
            return reply
        }
        let origins = hosts.map { "http://\($0)" }
        guard request.values(of: "origin").allSatisfy(origins.contains),
            request.values(of: "sec-fetch-site").allSatisfy(["same-origin", "none"].contains)
        else { return .empty(403) }
        return request.hasContent ? .empty(413) : nil
    }

    /// What stands behind the token in the request's target; nil where the token is another.
    func target(of request: Request) -> Substring? { Admission.rest(of: request.target, behind: "/\(token)/") }

    /// What of `text` stands behind `start`; nil where it begins in another way.
    ///
    /// - Complexity: O(length of `start`); the time does not tell how much of a text that is long enough is right.
    static func rest(of text: String, behind start: String) -> Substring? {
        let given = Array(text.utf8.prefix(start.utf8.count)), wanted = Array(start.utf8)
        guard given.count == wanted.count else { return nil }
        var difference: UInt8 = 0
        for (a, b) in zip(given, wanted) { difference |= a ^ b }
        return difference == 0 ? text[text.utf8.index(text.startIndex, offsetBy: wanted.count)...] : nil
    }
}
