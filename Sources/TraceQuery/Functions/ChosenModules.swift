public import TraceAnalysis
internal import TraceFile
internal import TraceText

/// The modules whose functions get traps, so that their first calls are recorded, or detours.
///
/// Those of the C library and the dynamic linker never do: they run while all signals are blocked, and a trap would then end the
/// program, and a detour would lead to what calls them itself. Nor do those of the unwinder and of Fathom's own library.
public struct ChosenModules {
    /// Modules by paths or names; none: the program and its own libraries.
    private let patterns: [Pattern]

    /// - Throws: ``Pattern/InvalidPattern``.
    public init(_ patterns: [String]) throws(Pattern.InvalidPattern) {
        var all: [Pattern] = []
        for text in patterns { all.append(try Pattern(unqualified: text)) }
        self.patterns = all
    }

    /// Those that a session was recorded with, as far as is known without looking at calls.
    init(of session: Session) {
        let isChosen = session.description?.option(.modules) != nil
        patterns = isChosen ? [Pattern(exactly: "")] : []
    }

    public func holds(_ path: String, isProgram: Bool) -> Bool {
        let name = PathText.name(path)
        if ChosenModules.untouchable.contains(where: { name.hasPrefix($0) }) { return false }
        if patterns.isEmpty { return isProgram || !ChosenModules.isOfSystem(path) }
        return patterns.contains { $0.matches(path) || $0.matches(name) }
    }

    private static let untouchable = [
        "libc.so", "libc-2.", "libpthread", "libdl.", "libdl-2.", "librt.", "librt-2.", "ld-linux", "ld-2.",
        "libfathom",
        "linux-vdso", "libgcc_s", "libunwind", "libasan", "libtsan", "libclang_rt",
    ]

    /// Whether a library lies where the system's are, or belongs to the Swift toolchain.
    private static func isOfSystem(_ path: String) -> Bool {
        guard let end = path.lastIndex(of: "/") else { return false }
        let directory = path[..<end]
        return ["/lib", "/usr/lib", "/lib64", "/usr/lib64"].contains { directory == $0 }
            || ["/lib/", "/usr/lib/"].contains { directory.hasPrefix($0) && directory.hasSuffix("-linux-gnu") }
            || directory.hasSuffix("/lib/swift/linux")
    }
}
