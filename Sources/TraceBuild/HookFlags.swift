/// The options that give functions hooks.
enum HookFlags {
    /// Before the command's own, so that a project's `-fno-instrument-functions` for a file still holds.
    static func all(_ family: Compiler.Family, _ options: BuildOptions) -> [String] {
        var flags = options.afterInlining ? ["-finstrument-functions-after-inlining"] : ["-finstrument-functions"]
        flags += ["-g", tag]
        if options.framePointers { flags.append("-fno-omit-frame-pointer") }
        if family == .gcc {
            // gcc looks for these texts anywhere in a function's name or its file's.
            flags += list("-finstrument-functions-exclude-function-list", options.excludedFunctions)
            flags += list("-finstrument-functions-exclude-file-list", options.excludedFiles)
            if !options.only.isEmpty, !options.only.contains(where: { $0.hasPrefix("/usr") }) {
                flags += list("-finstrument-functions-exclude-file-list", ["/usr/include/", "/usr/lib/"])
            }
        }
        return flags
    }

    /// For a file that gets none; the command line is kept in the object, and tells that it was meant so.
    static func none(_ family: Compiler.Family) -> [String] {
        // clang has no such option.
        [family == .gcc ? "-fno-instrument-functions" : "-D__fathom_no_hooks", "-g", tag]
    }

    /// Keeps the compiler's options in a section of the object: who links it can see that it went through here.
    private static let tag = "-frecord-gcc-switches"

    private static func list(_ option: String, _ globs: [String]) -> [String] {
        let texts = globs.map { ExcludePattern.gccText($0).replacing(",", with: "\\,") }
        let joined = texts.filter { !$0.isEmpty }.joined(separator: ",")
        return joined.isEmpty ? [] : ["\(option)=\(joined)"]
    }
}
