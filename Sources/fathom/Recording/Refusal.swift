internal import Glibc
internal import TraceRecording
internal import TraceSymbols

/// Why a program cannot be recorded, with the remedy.
struct Refusal: CustomStringConvertible {
    let description: String

    /// Nil when the program can be recorded.
    init?(of program: ExecutableInspection, at path: String, force: Bool) {
        switch program.kind {
        case _ where program.usesMusl:
            description =
                "\(path): linked with musl, but the runtime is made for glibc and nothing of it can be preloaded; "
                + "build the program with the system's compiler, not musl-gcc"
        case .script: return nil
        case .notExecutableFormat:
            description = "\(path): neither an ELF program nor a script with a #! line; name the program that runs it"
        case _ where !program.matchesHost:
            description = "\(path): built for another machine; record it on one that runs it"
        case _ where program.isPrivileged:
            description =
                "\(path): set-uid, set-gid or with file capabilities, so nothing can be preloaded; "
                + "copy it by cp, which drops these, and record the copy as a user with the rights that it needs"
        case .elfStatic where !program.hasFathomRuntime:
            description =
                "\(path): statically linked, so nothing can be preloaded; fathom build links the runtime in, "
                + "as cc -static ... \(Installation.staticLinkArguments) does by hand"
        case .elfDynamic where program.hasOwnHooks && !force:
            description =
                "\(path): has a function __cyg_profile_func_enter of its own, which its functions call in place of Fathom's; "
                + "remove that function, or pass --force to record only its libraries and the programs that it starts"
        case .elfDynamic where !program.isInstrumented && !program.hasFathomRuntime && !force:
            description =
                "\(path): not instrumented; build it with fathom build -- make (or swift build), or with -finstrument-functions -g, "
                + "or pass --force if it only starts instrumented programs"
        case .elfStatic, .elfDynamic: return nil
        }
    }
}
