/// Where the tables go: a directory, or a URL that a tool writes to.
public enum FleetTarget: Equatable, Sendable {
    case directory(String)
    case url(String, scheme: String)

    public init(_ text: String) {
        guard let end = text.firstRange(of: "://")?.lowerBound, end != text.startIndex,
            text[..<end].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else {
            self = .directory(text)
            return
        }
        let scheme = text[..<end].lowercased()
        // As in file:///var/lib/fleet, without a host.
        self = scheme == "file" ? .directory(String(text[end...].dropFirst(3))) : .url(text, scheme: scheme)
    }

    /// What takes a file to a URL of this scheme; nil when no usual tool is known.
    public static func command(for scheme: String) -> String? {
        switch scheme {
        case "s3": "exec aws s3 cp --only-show-errors \"$1\" \"$2\""
        case "gs": "exec gcloud storage cp --quiet \"$1\" \"$2\""
        case "http", "https": "exec curl --fail --silent --show-error --upload-file \"$1\" \"$2\""
        default: nil
        }
    }
}
