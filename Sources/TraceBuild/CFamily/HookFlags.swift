/// The options that give functions hooks.
enum HookFlags {
    /// Gives every function hooks, inlined ones too.
    static let everyFunction = "-finstrument-functions"

    /// These options come before the command's own, so that a project's `-fno-instrument-functions` for a file still
    /// holds.
    ///
    /// - Parameter systemHeaders: for gcc, texts that mark the files of system headers.
    static func all(_ family: Compiler.Family, _ options: BuildOptions, systemHeaders: [String] = []) -> [String] {
        if options.dormant {
            let frames = options.framePointers ? ["-fno-omit-frame-pointer"] : []
            return (family == .clang ? sleds : places) + ["-g", tag, jump] + frames
        }
        var flags = options.afterInlining ? ["\(everyFunction)-after-inlining"] : [everyFunction]
        flags += ["-g", tag, jump]
        if options.framePointers { flags.append("-fno-omit-frame-pointer") }
        if family == .gcc {
            // gcc looks for these texts anywhere in a function's name or its file's.
            let files = options.excludedFiles.map(ExcludePattern.gccText) + systemHeaders
            flags += list(
                "\(everyFunction)-exclude-function-list", options.excludedFunctions.map(ExcludePattern.gccText))
            flags += list("\(everyFunction)-exclude-file-list", files)
        }
        return flags
    }

    /// The options that make clang (11 or later) give functions sleds, after it has inlined. They go past its driver, which
    /// would link a runtime of its own for them, and before version 18 has no option against that.
    static let sleds = ["-fxray-instrument", "-fxray-instruction-threshold=1"].flatMap { ["-Xclang", $0] }

    /// The options that make gcc mark where sleds are to be (``SledAssembly``). The last one keeps callers from knowing
    /// which registers a function of the same file leaves alone: open sleds use others. The first is -pg, which does not refuse
    /// -fomit-frame-pointer.
    static let places = [
        "-p", "-mfentry", "-minstrument-return=nop5", "-mrecord-return", "-mrecord-mcount", "-fno-ipa-ra",
    ]

    /// The options for a file that gets no hooks. The object keeps its command line, which tells that this was meant.
    static func none(_ family: Compiler.Family) -> [String] {
        // clang has no such option.
        [family == .gcc ? "-fno-instrument-functions" : "-D__fathom_no_hooks", "-g", tag]
    }

    /// These options come behind all others, once the compilation without hooks has decided that nothing is wrong.
    static let withoutWarnings = ["-w"]

    /// Before a jump that the compiler itself makes, which nothing can stand before (`__builtin_longjmp`, by which Ruby raises),
    /// the runtime is told of it, if it is there.
    static let jump =
        "-D__builtin_longjmp(buffer,value)=__extension__({extern void fathom_note_builtin_jump(void*const*)"
        + "__asm__(\"fathom_note_builtin_jump\")__attribute__((weak));void**fathom_buffer=(void**)(buffer);"
        + "if(fathom_note_builtin_jump)fathom_note_builtin_jump(fathom_buffer);__builtin_longjmp(fathom_buffer,value);})"

    /// Keeps the compiler's options in a section of the object, which tells the link that it was made by way of Fathom.
    private static let tag = "-frecord-gcc-switches"

    private static func list(_ option: String, _ texts: [String]) -> [String] {
        let joined = texts.filter { !$0.isEmpty }.map { $0.replacing(",", with: "\\,") }.joined(separator: ",")
        return joined.isEmpty ? [] : ["\(option)=\(joined)"]
    }
}
