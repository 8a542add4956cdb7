/// A part of a C++ name as text, such as a type or a template argument, while a mangled name is read.
struct CXXText {
    /// What stands before the place where pointers, references and names go, and what stands behind it: `void (`, `)(int)`.
    var left: [UInt8]
    var right: [UInt8] = []
    var shape = Shape.plain
    /// The last identifier of a name, which its constructors have as well.
    var base: [UInt8] = []
    /// The elements where this stands for several.
    var elements: [CXXText]?
    /// Whether the elements are to stand one behind the other here.
    var isExpanded = false

    enum Shape {
        case plain, function, array
        /// A pointer or reference to a function or array, which is in brackets.
        case wrapped
    }

    init(_ left: [UInt8], right: [UInt8] = [], shape: Shape = .plain) {
        (self.left, self.right, self.shape) = (left, right, shape)
    }

    init(_ text: String) { self.init(Array(text.utf8)) }

    var whole: [UInt8] { left + right }

    /// About how many bytes this takes, and one for each element.
    var count: Int { elements?.reduce(left.count) { $0 + $1.count + 1 } ?? left.count + right.count }

    func contains(_ byte: UInt8) -> Bool {
        left.contains(byte) || right.contains(byte) || elements?.contains { $0.contains(byte) } == true
    }

    /// This with `change` made to it, or to each of its elements.
    func each(_ change: (CXXText) -> CXXText) -> CXXText {
        guard let elements else { return change(self) }
        var result = self
        result.elements = elements.map { $0.each(change) }
        return result
    }

    /// A pointer to this, `mark` being `*`; a reference; or with ` const` behind it.
    func marked(_ mark: String) -> CXXText {
        each { text in
            var text = text
            text.base = []
            switch text.shape {
            case .plain, .wrapped: text.left += mark.utf8
            case .function where mark.hasPrefix(" "): text.right += mark.utf8
            case .array where mark.hasPrefix(" "):
                text.left = Array(text.left.dropLast()) + mark.utf8 + [UInt8(ascii: " ")]
            case .function, .array:
                text.left += "(\(mark)".utf8
                text.right = (text.shape == .array ? ") " : ")").utf8 + text.right
                text.shape = .wrapped
            }
            return text
        }
    }

    /// A reference to this. A reference to a reference is one of `&`, if either is.
    func referenced(_ mark: String) -> CXXText {
        each { text in
            guard text.left.last == UInt8(ascii: "&"), text.shape != .function else { return text.marked(mark) }
            var text = text
            if mark == "&", text.left.suffix(2).elementsEqual("&&".utf8) { text.left.removeLast() }
            return text
        }
    }
}

extension [CXXText] {
    /// The texts with `, ` between them, those of packs as well.
    var joined: [UInt8] { flattened.joined(separator: ", ".utf8).map { $0 } }

    private var flattened: [[UInt8]] { flatMap { $0.elements?.flattened ?? [$0.whole] } }
}
