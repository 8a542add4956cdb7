internal import Glibc
internal import TraceText

/// A colour by lightness, chroma and hue, of which equal lightness looks equally light in every hue: Oklch (B. Ottosson, A
/// perceptual color space for image processing, 2020).
public struct FlameColour {
    /// 0 is black, 1 white.
    var lightness: Double
    /// 0 is grey. What a screen cannot show is reduced to what it can.
    var chroma: Double
    /// Degrees.
    var hue: Double

    public init(_ lightness: Double, _ chroma: Double, _ hue: Double) {
        self.lightness = lightness
        self.chroma = chroma
        self.hue = hue
    }

    /// `#rrggbb`, which every viewer knows.
    public var css: String {
        "#" + channels.map { UInt8($0) }.hexadecimal
    }

    /// Relative luminance as the Web Content Accessibility Guidelines 2.2 define it, of what is shown.
    var luminance: Double {
        zip([0.2126, 0.7152, 0.0722], channels).reduce(0) { sum, part in
            let value = Double(part.1) / 255
            return sum + part.0 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
        }
    }

    /// The contrast of two colours by the same guidelines, 1...21.
    public func contrast(to other: FlameColour) -> Double {
        let (a, b) = (luminance, other.luminance)
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    /// The lightest colour of this hue that stands out as a border of this one: its contrast is at least 3.
    public var edge: FlameColour {
        var (dark, light) = (FlameColour(0, chroma, hue), self)
        for _ in 0..<10 {
            let middle = FlameColour((dark.lightness + light.lightness) / 2, chroma, hue)
            if contrast(to: middle) >= 3 { dark = middle } else { light = middle }
        }
        return dark
    }

    /// Red, green and blue, 0...255.
    private var channels: [Int] {
        var (low, high) = (0.0, chroma)
        var rgb = linear(chroma)
        if !FlameColour.isShown(rgb) {
            for _ in 0..<12 {
                let middle = (low + high) / 2
                if FlameColour.isShown(linear(middle)) { low = middle } else { high = middle }
            }
            rgb = linear(low)
        }
        return rgb.map { value in
            let value = min(max(value, 0), 1)
            let encoded = value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055
            return Int((255 * encoded).rounded())
        }
    }

    private static func isShown(_ rgb: [Double]) -> Bool { rgb.allSatisfy { $0 >= -0.0005 && $0 <= 1.0005 } }

    private func linear(_ chroma: Double) -> [Double] {
        let angle = hue * .pi / 180
        let (a, b) = (chroma * cos(angle), chroma * sin(angle))
        func cube(_ value: Double) -> Double { value * value * value }
        let l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b)
        let m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b)
        let s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b)
        return [
            4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
        ]
    }
}
