/// A mangled C++ name whose long identifiers are replaced by short ones, for libstdc++'s demangler, which reads no name of
/// 1024 bytes or more. The parameters, which are not shown, are left out.
struct LongIdentifiers {
    /// The mangled name to demangle instead.
    let shortened: String
    private let identifiers: [String]

    private static let mark = "qFathomLong"
    private static let leastLength = 64

    /// - Returns: nil when the name is short enough as it is, or cannot be read.
    /// - Complexity: O(length).
    init?(_ mangled: String) {
        guard mangled.utf8.count >= 1024, !mangled.contains(Self.mark) else { return nil }
        guard
            let (name, long) = ConstrainedCXXName.replacingIdentifiers(
                of: mangled, from: Self.leastLength,
                by: { index in
                    let identifier = "\(Self.mark)\(index)_"
                    return "\(identifier.utf8.count)\(identifier)"
                })
        else { return nil }
        (shortened, identifiers) = (name, long)
    }

    /// Puts the long identifiers back into the demangled name. O(length).
    func restored(in demangled: String) -> String {
        var result = ""
        var rest = demangled[...]
        while let mark = rest.firstRange(of: Self.mark) {
            result += rest[..<mark.lowerBound]
            let digits = rest[mark.upperBound...].prefix { $0 != "_" }
            guard let index = Int(digits), identifiers.indices.contains(index) else { return demangled }
            result += identifiers[index]
            rest = rest[digits.endIndex...].dropFirst()
        }
        return result + rest
    }
}
