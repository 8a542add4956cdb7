/// The colours of flame graphs: a hue for each group, shades of it for the functions in the group, dark text readable on
/// the light theme's and light text on the dark one's.
enum FlamePalette {
    static let shadeCount = 5

    /// As hue, of groups that come first, then by the golden angle: neighbours differ.
    private static let firstHues: [Double] = [30, 205, 140, 275, 345, 175, 55, 305]

    /// A colour in CSS.
    ///
    /// - Parameter shade: 0..<`shadeCount`.
    static func colour(group: Int, shade: Int, isDark: Bool) -> String {
        let base =
            group < firstHues.count
            ? firstHues[group] : (32 + Double(group) * 137.508).truncatingRemainder(dividingBy: 360)
        let hue = Int((base + Double(shade - shadeCount / 2) * 6 + 360).truncatingRemainder(dividingBy: 360))
        return isDark ? "hsl(\(hue) 50% \(26 + 2 * shade)%)" : "hsl(\(hue) 82% \(82 - 3 * shade)%)"
    }

    /// A function's shade: the same in every graph.
    static func shade(of name: String) -> Int {
        // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
        let hash = name.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return Int(hash >> 16) % shadeCount
    }
}
