/// The parts of a function's name: `::` stands between those of C++, and `.` between those of Swift.
enum QualifiedName {
    /// Whether `end` is the last part of a function's name, the last parts, or all of it, with or without the argument list and
    /// the arguments of templates.
    ///
    /// A closure, and whatever else the name says to be in or of a function, is another function.
    static func ends(_ name: String, with end: [UInt8]) -> Bool {
        guard !end.isEmpty, end.count <= name.utf8.count else { return false }
        let bytes = Array(name.utf8), stripped = withoutArguments(bytes)
        if isLast(end, of: bytes[...]) || isLast(end, of: stripped) { return true }
        guard bytes.contains(UInt8(ascii: "<")) else { return false }
        for candidate in [bytes[...], stripped] {
            if let bare = withoutTemplateArguments(candidate), isLast(end, of: bare[...]) { return true }
        }
        return false
    }

    private static func isLast(_ end: [UInt8], of name: ArraySlice<UInt8>) -> Bool {
        guard name.count >= end.count, name.suffix(end.count).elementsEqual(end) else { return false }
        let before = name.dropLast(end.count)
        if before.isEmpty || before.elementsEqual("static ".utf8) { return true }
        guard before.last == UInt8(ascii: ".") || before.suffix(2).elementsEqual("::".utf8) else { return false }
        return !relations.contains { contains(before, $0) }
    }

    /// Words behind which Swift names the function that another one belongs to.
    private static let relations = [" in ", " of ", " for ", " to "].map { Array($0.utf8) }

    private static func contains(_ text: ArraySlice<UInt8>, _ word: [UInt8]) -> Bool {
        var rest = text
        while let blank = rest.firstIndex(of: UInt8(ascii: " ")) {
            if rest[blank...].starts(with: word) { return true }
            rest = rest[(blank + 1)...]
        }
        return false
    }

    /// `name` up to its argument list: the parenthesis that the last `)` closes.
    static func withoutArguments(_ name: [UInt8]) -> ArraySlice<UInt8> {
        guard let close = name.lastIndex(of: UInt8(ascii: ")")) else { return name[...] }
        var level = 0
        for index in (0...close).reversed() {
            if name[index] == UInt8(ascii: ")") { level += 1 }
            if name[index] == UInt8(ascii: "(") { level -= 1 }
            if level == 0 { return index == 0 ? name[...] : name[..<index] }
        }
        return name[...]
    }

    /// The name without what stands between `<` and `>`; nil where these do not belong together. The signs of operators stay.
    static func withoutTemplateArguments(_ name: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var index = name.startIndex
        while index < name.endIndex {
            guard name[index] == UInt8(ascii: "<") else {
                result.append(name[index])
                index += 1
                continue
            }
            if result.suffix(operatorWord.count).elementsEqual(operatorWord) {
                let sign = name[index...].prefix { $0 >= UInt8(ascii: "<") && $0 <= UInt8(ascii: ">") }
                result += sign
                index += sign.count
            } else {
                guard let end = groupEnd(name, from: index) else { return nil }
                index = end
            }
        }
        // This separates the sign of an operator from the group behind it.
        if result.last == UInt8(ascii: " ") { result.removeLast() }
        return result
    }

    private static let operatorWord = Array("operator".utf8)

    /// The index behind the `>` that closes the `<` at `start`. What stands in parentheses is not looked at.
    private static func groupEnd(_ name: ArraySlice<UInt8>, from start: Int) -> Int? {
        var level = 0, parentheses = 0
        for index in start..<name.endIndex {
            switch name[index] {
            case UInt8(ascii: "("): parentheses += 1
            case UInt8(ascii: ")"): parentheses -= 1
            case UInt8(ascii: "<") where parentheses == 0: level += 1
            case UInt8(ascii: ">") where parentheses == 0 && name[index - 1] != UInt8(ascii: "-"):
                level -= 1
                if level == 0 { return index + 1 }
            default: break
            }
        }
        return nil
    }
}
