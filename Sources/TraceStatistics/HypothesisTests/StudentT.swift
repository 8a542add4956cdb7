internal import Glibc

/// Student's t distribution, by the incomplete beta function.
public enum StudentT {
    /// The chance of a value at least as far from 0 as `t`.
    ///
    /// NIST Digital Library of Mathematical Functions, 8.17: I_x(df/2, 1/2) at x = df / (df + t²).
    ///
    /// - Parameter degrees: degrees of freedom, greater than 0; need not be whole.
    public static func twoSided(_ t: Double, degrees: Double) -> Double {
        guard t.isFinite else { return t.isNaN ? 1 : 0 }
        return incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5)
    }

    /// The value that is exceeded, in either direction, with the chance `chance`. A chance of 0.05 gives the 97.5 %
    /// quantile.
    ///
    /// - Complexity: about sixty evaluations of the distribution, by bisection.
    public static func quantile(twoSided chance: Double, degrees: Double) -> Double {
        var low = 0.0
        var high = 1.0
        while twoSided(high, degrees: degrees) > chance, high < 1e12 { high *= 2 }
        for _ in 0..<200 {
            let middle = (low + high) / 2
            if middle <= low || middle >= high { break }
            if twoSided(middle, degrees: degrees) > chance { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The regularised incomplete beta function I_x(a, b).
    ///
    /// The continued fraction of DLMF 8.17.22, evaluated as W. J. Lentz does (Applied Optics 15, 1976), where it converges
    /// fast, and by I_x(a, b) = 1 - I_{1-x}(b, a) elsewhere.
    static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        if x <= 0 { return 0 }
        if x >= 1 { return 1 }
        if x > (a + 1) / (a + b + 2) { return 1 - incompleteBeta(1 - x, b, a) }
        var sign: Int32 = 0
        let logBeta = lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign)
        let front = exp(a * log(x) + b * log1p(-x) - logBeta) / a
        let tiny = 1e-300
        var c = 1.0
        var d = 0.0
        var fraction = 1.0
        for step in 0..<2000 {
            let m = Double(step / 2)
            let numerator =
                if step == 0 {
                    1.0
                } else if step % 2 == 0 {
                    m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                } else {
                    -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                }
            d = 1 + numerator * d
            if abs(d) < tiny { d = tiny }
            d = 1 / d
            c = 1 + numerator / c
            if abs(c) < tiny { c = tiny }
            let factor = c * d
            fraction *= factor
            if step > 0, abs(factor - 1) < 1e-15 { break }
        }
        return front * (fraction - 1)
    }
}
