public import TraceText

/// The colours of flame graphs. All of a theme are about equally light, so that none shouts; text on them has a contrast of at
/// least 4.5, and their borders one of at least 3.
public enum FlamePalette {
    /// Shades of a group's colour, which tell its functions apart.
    public static let shadeCount = 5
    /// Groups after so many have the colours of the first ones again.
    public static let groupCount = 24
    /// Steps from no own time, or no change, to the most; changes have as many in either direction.
    public static let stepCount = 8

    /// Hues of the groups that come first; those of others follow by the golden angle, so that neighbours differ.
    private static let firstHues: [Double] = [62, 245, 150, 310, 15, 195, 100, 280]

    /// - Parameter shade: 0..<`shadeCount`.
    public static func colour(group: Int, shade: Int, isDark: Bool) -> FlameColour {
        let group = group % groupCount
        let base =
            group < firstHues.count
            ? firstHues[group] : (40 + Double(group) * 137.508).truncatingRemainder(dividingBy: 360)
        let hue = base + Double(shade - shadeCount / 2) * 5
        return isDark
            ? FlameColour(0.5 + 0.01 * Double(shade), 0.085, hue)
            : FlameColour(0.915 - 0.016 * Double(shade), 0.078, hue)
    }

    /// From pale to glowing.
    ///
    /// - Parameter step: 0...`stepCount`.
    public static func colour(ownTime step: Int, isDark: Bool) -> FlameColour {
        let part = Double(step) / Double(stepCount)
        return isDark
            ? FlameColour(0.505 + 0.05 * part, 0.01 + 0.13 * part, 95 - 60 * part)
            : FlameColour(0.95 - 0.2 * part, 0.012 + 0.15 * part, 95 - 55 * part)
    }

    /// Red where time was added, blue where it was saved, pale where it was little. These can be told apart also without
    /// seeing red and green as different.
    ///
    /// - Parameter step: -`stepCount`...`stepCount`.
    public static func colour(change step: Int, isDark: Bool) -> FlameColour {
        let part = Double(abs(step)) / Double(stepCount)
        let hue = step < 0 ? 250.0 : 27
        return isDark
            ? FlameColour(0.505 + 0.035 * part, 0.005 + 0.155 * part, hue)
            : FlameColour(0.935 - 0.225 * part, 0.004 + 0.156 * part, hue)
    }

    /// The colour of frames that stand for no function.
    public static func plain(isDark: Bool) -> FlameColour { FlameColour(isDark ? 0.5 : 0.92, 0.006, 270) }
    /// The colours of what waits, which is hatched: grey, since nothing ran.
    public static func waiting(isDark: Bool) -> (ground: FlameColour, lines: FlameColour) {
        let ground = FlameColour(isDark ? 0.278 : 0.93, 0.006, 270)
        return (ground, isDark ? FlameColour(0.552, 0.006, 270) : ground.edge)
    }
    /// The colour of frames that a search finds.
    public static func matched(isDark: Bool) -> FlameColour { FlameColour(isDark ? 0.555 : 0.76, 0.19, 335) }
    /// The colour of a counter's values, behind text.
    public static func counter(isDark: Bool) -> FlameColour { FlameColour(isDark ? 0.51 : 0.655, 0.1, 257) }
    /// The colours of what a thread did; the page's style sheet has the same.
    public static func states(isDark: Bool) -> (running: FlameColour, blocked: FlameColour, runnable: FlameColour) {
        isDark
            ? (FlameColour(0.54, 0.09, 150), FlameColour(0.335, 0.012, 275), FlameColour(0.6, 0.12, 65))
            : (FlameColour(0.775, 0.09, 150), FlameColour(0.87, 0.012, 275), FlameColour(0.75, 0.13, 65))
    }
    /// The colour of text.
    public static func ink(isDark: Bool) -> FlameColour { FlameColour(isDark ? 0.985 : 0.2, 0.005, 270) }
    /// The colour of the page's background.
    public static func paper(isDark: Bool) -> FlameColour { FlameColour(isDark ? 0.17 : 1, isDark ? 0.006 : 0, 270) }

    /// Writes every colour of pages with that of its border, as `colours.js` reads them.
    ///
    /// - Parameter groups: how many groups there are.
    public static func write(isDark: Bool, groups: Int, to json: JSONWriter) {
        func pair(_ colour: FlameColour) -> [String] { [colour.css, colour.edge.css] }
        json.array("groups", 0..<min(groups, groupCount)) { group in
            json.array(0..<shadeCount) { json.value(pair(colour(group: group, shade: $0, isDark: isDark))) }
        }
        json.array("self", 0...stepCount) { json.value(pair(colour(ownTime: $0, isDark: isDark))) }
        json.array("change", -stepCount...stepCount) { json.value(pair(colour(change: $0, isDark: isDark))) }
        let waiting = waiting(isDark: isDark)
        json.field("waiting", [waiting.ground.css, waiting.lines.css])
        json.field("plain", pair(plain(isDark: isDark)))
        json.field("matched", pair(matched(isDark: isDark)))
        json.field("counter", counter(isDark: isDark).css)
        json.field("ink", ink(isDark: isDark).css)
    }

    /// A function's shade: the same in every graph.
    public static func shade(of name: String) -> Int {
        // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
        let hash = name.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return Int(hash >> 16) % shadeCount
    }
}
