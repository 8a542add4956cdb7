internal import Glibc
internal import TraceBuild
public import TraceSymbols
internal import TraceText

/// Why a program cannot be recorded, with the remedy. The description is one line.
public struct Refusal: Error, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    /// Nil when the program's first calls can be recorded, which takes no hooks.
    init?(ofFirstCallsIn program: ExecutableInspection, at path: String) {
        #if !arch(x86_64)
            self.init("\(path): first calls are recorded on x86-64 only")
        #else
            let isELF = program.kind == .elfStatic || program.kind == .elfDynamic
            if isELF, program.isInstrumented || program.hasFathomRuntime {
                self.init("\(path): has hooks, which tell of every call; record it without --first-calls")
            } else if isELF, program.isGo {
                self.init("\(path): made by Go, whose programs handle signals by themselves, so a trap would end it")
            } else if program.kind == .elfStatic, !program.usesMusl {
                self.init("\(path): statically linked, so nothing can be preloaded that would record first calls")
            } else {
                self.init(of: program, at: path, force: true)
            }
        #endif
    }

    /// Nil when calls of the program can go on by return places, as far as its unwinder matters.
    ///
    /// - Parameter option: what asks for that.
    public init?(ofPlacesIn path: String, for option: String) {
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        guard let unwinder = FunctionEntries.foreignUnwinder(of: path, libraryPath: libraryPath) else { return nil }
        let name = PathText.name(unwinder).visible
        description =
            "\(option): \(path) throws its exceptions by \(name), which would end it at return addresses that are changed while it is recorded; "
            + "link it with libgcc_s before \(name)"
    }

    /// Nil when the program can be recorded.
    ///
    /// - Parameters:
    ///   - force: whether a program without hooks will do, for those that it starts.
    ///   - tellsStartup: whether only its start is asked for, of which the kernel tells.
    public init?(of program: ExecutableInspection, at path: String, force: Bool, tellsStartup: Bool = false) {
        switch program.kind {
        case _ where program.usesMusl:
            description =
                "\(path): linked with musl, but the runtime is made for glibc and nothing of it can be preloaded; "
                + "build the program with the system's compiler, not musl-gcc"
        case .script: return nil
        case .notExecutableFormat:
            description = "\(path): neither an ELF program nor a script with a #! line; name the program that runs it"
        case .sharedLibrary:
            description = "\(path): a shared library, which does not run by itself; record a program that loads it"
        case _ where !program.matchesHost:
            description = "\(path): built for another machine; record it on one that runs it"
        case _ where program.isPrivileged:
            description =
                "\(path): set-uid, set-gid or with file capabilities, so nothing can be preloaded; "
                + "copy it by cp, which drops these, and record the copy as a user with the rights that it needs"
        // The kernel tells of its start all the same.
        case .elfStatic where tellsStartup: return nil
        case .elfStatic where program.isGo && !program.hasFathomRuntime,
            .elfDynamic where program.isGo && !program.isInstrumented && !force:
            description =
                "\(path): made by Go, whose compiler gives functions no hooks; fathom sample -- \(CommandText.file(path)) looks "
                + "at its stacks instead"
        case .elfStatic where !program.hasFathomRuntime:
            description =
                "\(path): statically linked, so nothing can be preloaded; fathom build links the runtime in, "
                + "as cc -static ... \(Installation.staticLinkArguments) does by hand; as it is, fathom sample and fathom startup can look at it"
        case .elfDynamic where program.hasOwnHooks && !force:
            description =
                "\(path): has a function __cyg_profile_func_enter of its own, which its functions call in place of Fathom's; "
                + "remove that function, or pass --force to record only its libraries and the programs that it starts"
        case .elfDynamic where !program.isInstrumented && !program.hasFathomRuntime && !force && !Self.isStarter(path):
            if let known = BareProgram(at: path) {
                description = "\(path): \(known.description)"
                return
            }
            description =
                "\(path): has no hooks; build it with fathom build -- make (or swift build), or with -finstrument-functions -g; "
                + "as it is, fathom record --any records its functions and fathom record --libcalls its library calls, fathom sample, fathom record --first-calls and fathom startup can look at it, and "
                + "--force runs it for the programs with hooks that it starts"
        case .elfStatic, .elfDynamic: return nil
        }
    }

    /// Whether a program, or the interpreter of a script, has hooks itself; true of what cannot be read.
    public static func hasHooks(_ path: String) -> Bool {
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        guard let program = try? ExecutableInspection.inspect(path: path, libraryPath: libraryPath) else { return true }
        if case .script(let interpreter) = program.kind { return hasHooks(interpreter) }
        return program.isInstrumented || program.hasFathomRuntime
    }

    /// Whether a program is run for the programs that it starts, as scripts are, so that it need not have hooks.
    static func isStarter(_ path: String) -> Bool {
        let name = PathText.name(path)
        return starters.contains(name)
            || name.hasPrefix("python") && name.dropFirst(6).allSatisfy { $0.isNumber || $0 == "." }
    }

    private static let starters: Set<String> = [
        "bash", "dash", "fish", "ksh", "sh", "zsh", "gmake", "make", "ninja", "ctest", "perl", "ruby", "env", "nice",
        "nohup",
        "setsid", "stdbuf", "taskset", "time", "timeout", "xargs",
    ]
}
