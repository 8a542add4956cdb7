/// The names that compilers go by: `gcc`, `x86_64-linux-gnu-g++-12`, `clang-21`, `c++`; `swiftc`, `swift`.
public enum CompilerName {
    /// Whether a program of that name (its last path component) compiles C or C++.
    public static func isCompiler(_ name: String) -> Bool { base(of: name) != nil }

    /// `cc`, `c++`, `gcc`, `g++`, `clang` or `clang++`: the name without target and version.
    static func base(of name: String) -> String? {
        var rest = name[...]
        // A version: `-12`, `-4.9`, or `-21.0.0`.
        if let dash = rest.lastIndex(of: "-"), dash != rest.startIndex,
            rest[rest.index(after: dash)...].allSatisfy({ $0.isNumber || $0 == "." }),
            rest.index(after: dash) != rest.endIndex
        {
            rest = rest[..<dash]
        }
        for base in ["clang++", "clang", "g++", "gcc", "c++", "cc"] where rest.hasSuffix(base) {
            let target = rest.dropLast(base.count)
            // A target, `aarch64-linux-gnu-`, has at least two parts: `colour-gcc` is something else.
            if target.isEmpty || target.hasSuffix("-") && target.filter({ $0 == "-" }).count >= 2 { return base }
        }
        return nil
    }

    /// Whether a program of that name compiles Swift or builds packages of it.
    public static func isSwift(_ name: String) -> Bool { swift.contains(name) }

    /// `swift-build` is what `swift build` runs.
    static let swift: Set<String> = ["swift", "swiftc", "swift-build", "swift-run", "swift-test"]

    /// Programs that stand before a compiler: `ccache gcc -c a.c`.
    static let launchers: Set<String> = ["ccache"]
}
