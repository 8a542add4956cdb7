extension String {
    /// The number of columns that the text takes on a terminal. East Asian wide characters take two, marks that combine with
    /// others none, as in Markus Kuhn's wcwidth (https://www.cl.cam.ac.uk/~mgk25/ucs/wcwidth.c).
    ///
    /// - Complexity: O(bytes).
    public var columns: Int {
        let isASCII = utf8.allSatisfy { $0 < 0x80 }
        return isASCII ? utf8.count : unicodeScalars.reduce(0) { $0 + $1.columns }
    }

    /// Returns the text in at most `limit` columns: when it is longer, with `…` in place of its middle.
    public func shortened(to limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 1 else { return limit == 1 ? "…" : "" }
        let scalars = Array(unicodeScalars)
        let front = String.fitting(scalars, limit / 2)
        let back = String.fitting(scalars.reversed(), limit - 1 - limit / 2)
        var text = String.UnicodeScalarView(scalars[..<front])
        text.append("…")
        text.append(contentsOf: scalars[(scalars.count - back)...])
        return String(text)
    }

    /// The first of the text that has room in `limit` columns.
    public func cut(to limit: Int) -> String {
        let scalars = Array(unicodeScalars)
        return String(String.UnicodeScalarView(scalars[..<String.fitting(scalars, limit)]))
    }

    /// The number of the first `scalars` that have room in `limit` columns.
    private static func fitting(_ scalars: [Unicode.Scalar], _ limit: Int) -> Int {
        var columns = 0
        return scalars.firstIndex { scalar in
            columns += scalar.columns
            return columns > limit
        } ?? scalars.count
    }

    /// The text in lines of at most `width` columns, broken between words, but not between a number and its unit; a word that is
    /// longer than a line is broken anywhere.
    ///
    /// - Parameter indentation: spaces before all lines but the first, which is taken to begin there.
    public func wrapped(to width: Int, indentation: Int = 0) -> String {
        let room = max(width - indentation, 1)
        var lines: [String] = []
        var line = ""
        for var word in unbreakable {
            if !lines.isEmpty || !line.isEmpty {
                if line.columns + 1 + word.columns <= room {
                    line += " " + word
                    continue
                }
                lines.append(line)
            }
            while word.columns > room {
                let scalars = Array(word.unicodeScalars)
                let count = max(String.fitting(scalars, room), 1)
                lines.append(String(String.UnicodeScalarView(scalars[..<count])))
                word = String(String.UnicodeScalarView(scalars[count...]))
            }
            line = word
        }
        return (lines + [line]).joined(separator: "\n" + String(repeating: " ", count: indentation))
    }

    /// The words between which a line may be broken.
    private var unbreakable: [String] {
        var words: [String] = []
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            let unit = word.prefix { $0.isLetter || $0 == "%" }
            if let last = words.last, last.last?.isNumber == true, String.units.contains(unit) {
                words[words.count - 1] = "\(last) \(word)"
            } else {
                words.append(String(word))
            }
        }
        return words
    }

    private static let units: Set<Substring> = ["ns", "us", "ms", "s", "%", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB"]
}

extension Unicode.Scalar {
    /// The number of columns that the character takes on a terminal; 0 for what steers it.
    public var columns: Int {
        if value < 0x300 { return value < 0x20 || 0x7f..<0xa0 ~= value ? 0 : 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return Unicode.Scalar.wide.contains { $0 ~= value } ? 2 : 1
        }
    }

    /// What takes two columns (Unicode's EastAsianWidth.txt, W and F), by whole blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff,
        0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff,
        0x20000...0x3fffd,
    ]
}
