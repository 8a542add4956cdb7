/// A request as it came. Nothing of it is believed yet.
struct Request: Sendable {
    var method: String
    /// What stands between the method and the version: a path, and behind `?` its parameters.
    var target: String
    var headers: [(name: String, value: String)] = []
    var hasContent = false

    /// The values of all headers of a name, which is told in small letters. In HTTP, names of headers are ASCII in any case.
    func values(of name: String) -> [String] {
        headers.filter { $0.name.utf8.elementsEqual(name.utf8) { Request.small($0) == $1 } }.map(\.value)
    }

    private static func small(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
