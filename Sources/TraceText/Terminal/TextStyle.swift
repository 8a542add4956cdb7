/// How text stands out on a terminal (ECMA-48, Select Graphic Rendition).
public enum TextStyle: Sendable {
    /// Headings.
    case bold
    /// What is said besides.
    case dim
    /// The hottest numbers, what got worse, and damage.
    case red
    case green
    case yellow

    fileprivate var begin: StaticString {
        switch self {
        case .bold: "\u{1b}[1m"
        case .dim: "\u{1b}[2m"
        case .red: "\u{1b}[31m"
        case .green: "\u{1b}[32m"
        case .yellow: "\u{1b}[33m"
        }
    }
}

extension String {
    /// The text as it stands out in `style`; plain when that is nil.
    public func styled(_ style: TextStyle?) -> String { style.map { "\($0.begin)\(self)\u{1b}[0m" } ?? self }
}

extension ByteWriter {
    /// Writes what `body` does, in `style`; plain when that is nil.
    @inline(__always)
    public func write(in style: TextStyle?, _ body: () -> Void) {
        guard let style else { return body() }
        write(style.begin)
        body()
        write("\u{1b}[0m" as StaticString)
    }
}
